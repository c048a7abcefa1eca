// A component that is loaded when it is shown, such as one with a library of its own.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { loadAllTexts } from "../i18n/index.ts";

export function lazy<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [Found, setFound] = useState<ComponentType<P> | undefined>(() => loaded);
    useEffect(() => {
      if (Found) return;
      void Promise.all([load(), loadAllTexts()]).then(([module]) => {
        loaded = module.default;
        setFound(() => loaded);
      });
    }, []);
    return Found ? <Found {...props} /> : <span aria-busy="true" />;
  };
}
