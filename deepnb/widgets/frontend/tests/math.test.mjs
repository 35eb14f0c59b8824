// @vitest-environment node
/** The commands that papers use look in the shipped bundle as temml, whole and untouched, has them. */

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { build } from "esbuild";
import temml from "temml";
import { beforeAll, expect, test } from "vitest";

import { trim } from "../trim.mjs";

let mathML;

beforeAll(async () => {
  const outfile = join(await mkdtemp(join(tmpdir(), "math-")), "math.mjs");
  await build({
    entryPoints: ["src/markdown/math.ts"],
    absWorkingDir: `${import.meta.dirname}/..`,
    bundle: true,
    minify: true,
    format: "esm",
    outfile,
    plugins: [trim],
  });
  ({ mathML } = await import(/* @vite-ignore */ outfile));
});

const SIGNS = String.raw`
\alpha \beta \gamma \delta \epsilon \varepsilon \zeta \eta \theta \vartheta \iota \kappa \lambda \mu \nu \xi \pi \varpi
\rho \varrho \sigma \varsigma \tau \upsilon \phi \varphi \chi \psi \omega \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma
\Upsilon \Phi \Psi \Omega \partial \nabla \infty \hbar \ell \Re \Im \aleph \emptyset \varnothing \forall \exists \nexists
\neg \wedge \vee \cap \cup \setminus \subset \subseteq \supset \supseteq \in \notin \ni \times \div \cdot \pm \mp \ast
\star \circ \bullet \oplus \otimes \odot \dagger \ddagger \le \leq \ge \geq \ne \neq \ll \gg \approx \sim \simeq \cong
\equiv \propto \prec \succ \preceq \succeq \perp \parallel \mid \nmid \models \vdash \dashv \to \gets \rightarrow
\leftarrow \leftrightarrow \Rightarrow \Leftarrow \Leftrightarrow \mapsto \longrightarrow \longmapsto \hookrightarrow
\uparrow \downarrow \updownarrow \nearrow \searrow \rightleftharpoons \rightharpoonup \iff \implies \impliedby \sum \prod
\coprod \int \iint \iiint \oint \bigcup \bigcap \bigoplus \bigotimes \bigvee \bigwedge \lim \limsup \liminf \sup \inf
\max \min \arg \argmax \argmin \det \dim \ker \exp \ln \log \sin \cos \tan \cot \sec \csc \arcsin \arccos \arctan \sinh
\cosh \tanh \gcd \Pr \ldots \cdots \vdots \ddots \dots \dotsc \dotsb \quad \qquad \, \: \; \! \prime \angle \triangle
\square \blacksquare \diamond \langle \rangle \lfloor \rfloor \lceil \rceil \| \{ \} \% \& \# \_ \lesssim \gtrsim
\leqslant \geqslant \because \therefore \complement \top \bot \surd \colon \coloneqq \Box \checkmark \degree \AA \imath \jmath
`.trim().split(/\s+/);

const FORMS = String.raw`
\frac{a}{b} | \dfrac{a}{b} | \tfrac12 | \binom{n}{k} | \sqrt{x} | \sqrt[3]{x} | x^{2}_{i} | x' | {}^{14}_{6}\mathrm{C}
\hat{x} | \bar{x} | \tilde{x} | \vec{v} | \dot{x} | \ddot{x} | \check x | \breve x | \acute x | \grave x | \mathring A
\overline{AB} | \underline{x} | \widehat{xyz} | \widetilde{xyz} | \overrightarrow{AB} | \overbrace{a+b}^{n} | \underbrace{a+b}_{n}
\mathbf{x} | \mathbb{R} | \mathcal{L} | \mathscr{H} | \mathfrak{g} | \mathrm{d}x | \mathit{f} | \mathsf{T} | \mathtt{x} | \boldsymbol{\beta} | \bm{x}
\text{if } x > 0 | \textbf{b} | \textit{i} | \operatorname{tr}(A) | \operatorname*{ess\,sup}_x | \mathop{\rm rank} A | \pmod{n} | a \bmod b
\left( \frac{a}{b} \right) | \left[ x \right. | \left\{ x \middle| y \right\} | \bigl( x \bigr) | \Big| x \Big| | \lVert x \rVert | \lvert x \rvert
\begin{matrix} a & b \\ c & d \end{matrix} | \begin{pmatrix} a & b \\ \vdots & d \end{pmatrix} | \begin{bmatrix} 1 \\ 2 \end{bmatrix} | \begin{vmatrix} a \end{vmatrix}
\begin{cases} x & \text{if } y \\ 0 & \text{else} \end{cases} | \begin{aligned} a &= b \\ &= c \end{aligned} | \begin{array}{c|c} a & b \\ \hline c & d \end{array}
\begin{align} a &= b \\ c &= d \end{align} | \begin{equation*} x \end{equation*} | \begin{gathered} a \\ b \end{gathered} | \begin{smallmatrix} a \end{smallmatrix}
\xrightarrow{f} | \xleftarrow[a]{b} | \overset{!}{=} | \underset{x}{\min} | \stackrel{d}{=} | \substack{a \\ b} | \sum\limits_{i=1}^n | \int\nolimits_a^b
\boxed{x} | \cancel{x} | \not\in | \not= | \phantom{x} | \hspace{1em} | \hspace*{1em} | \mathrel{R} | \displaystyle x | \textstyle x | x \tag{1}
\bra{x} | \ket{y} | \braket{x|y} | \color{red} x | \textcolor{blue}{x} | \mathbin{+} | \rule{1em}{1pt} | \nonumber x | \raisebox{1pt}{x}
é | x² | α + β | 𝐱 | ℝ | ≤ | ∑ | \mathrm{Å} | 10^{-3}\,\mathrm{mol\,L^{-1}} | \def\half{\tfrac12} \half
`.trim().split(/\n| \| /).map((form) => form.trim());

/** As the wall lets it through. */
const seen = (made) => made.replace(/ (?:style|class|mathcolor|xmlns|id)=(?:"[^"]*"|'[^']*')/g, "");

test.each([...SIGNS, ...FORMS])("%s", (tex) => {
  const whole = temml.renderToString(tex, { displayMode: true, throwOnError: true });
  expect(seen(mathML(tex, true))).toBe(seen(whole));
});

test.each([String.raw`\includegraphics{x}`, String.raw`\href{javascript:1}{x}`, String.raw`\begin{CD} A @>>> B \end{CD}`, String.raw`\sfrac12`, "\\notacommand", "x^", "{"])(
  "what is left out, or wrong, is refused, so that its source is shown: %s",
  (tex) => expect(() => mathML(tex, false)).toThrow(),
);
