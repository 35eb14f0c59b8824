/** A component that is drawn again only if one of its properties is another one. */

import { Component, type ComponentType } from "preact";

export function memo<Props extends object>(View: ComponentType<Props>): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const names = Object.keys({ ...this.props, ...next }) as (keyof Props)[];
      return names.some((name) => this.props[name] !== next[name]);
    }

    render() {
      return <View {...(this.props as Props)} />;
    }
  };
}
