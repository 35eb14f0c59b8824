// What JSX becomes in the bundle: shorter than what `jsx: "automatic"` makes of it.
export { Fragment, h } from "preact";
