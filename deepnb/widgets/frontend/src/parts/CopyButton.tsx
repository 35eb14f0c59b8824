/** A button that copies, and says for a moment that it has. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

import { copyText } from "./clipboard";
import { Icon } from "./Icon";

interface CopyButtonProps {
  text: () => string;
  class?: string;
  /** Of a button that is only an icon. */
  label?: string;
  children?: ComponentChildren;
}

export function CopyButton({ text, class: style = "dn-btn", label, children }: CopyButtonProps) {
  const [said, say] = useState("");
  // Before the frame, since each code block has one: an effect after it would have another drawn.
  useLayoutEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => say(""), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => say((await copyText(text())) ? "Copied" : "The browser refused");
  return (
    <button type="button" class={style} aria-label={said || label} title={said || label} onClick={copy}>
      <Icon name={said === "Copied" ? "check" : "copy"} small />
      {children && (said || children)}
    </button>
  );
}
