/** Keeps the end of the log in sight while it grows, and lets go when the reader scrolls up. */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const NEAR_PX = 48;

interface Stick {
  box: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  atEnd: boolean;
  toEnd: () => void;
}

/**
 * `first` is the key of the topmost item: when it changes, older messages were put in front, and
 * what the reader looks at must stay where it is. `log` names the log; a new one begins at its end.
 */
export function useStick(log: string, first: string | undefined): Stick {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  /** Where the box stood last, be it by us or by the reader. */
  const top = useRef(0);
  const [atEnd, setAtEnd] = useState(true);
  const before = useRef({ log, first, height: 0 });

  const settle = useCallback(() => {
    const element = box.current;
    if (element && stuck.current) element.scrollTop = element.scrollHeight;
    before.current.height = element?.scrollHeight ?? 0;
    top.current = element?.scrollTop ?? 0;
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const { current } = before;
    if (current.log !== log) {
      stuck.current = true;
      setAtEnd(true);
    } else if (current.first !== first && current.first !== undefined && !stuck.current) {
      element.scrollTop += element.scrollHeight - current.height;
    }
    before.current = { log, first, height: element.scrollHeight };
    settle();
  }, [log, first, settle]);

  useEffect(() => {
    const element = box.current;
    const inner = content.current;
    if (!element || !inner) return;
    const moved = () => {
      const left = element.scrollHeight - element.scrollTop - element.clientHeight;
      // Growth also moves the end away: only a reader who goes up lets go of it.
      stuck.current = left < NEAR_PX || (stuck.current && element.scrollTop >= top.current - 1);
      top.current = element.scrollTop;
      setAtEnd(stuck.current);
    };
    const sizes = new ResizeObserver(settle);
    sizes.observe(inner);
    sizes.observe(element);
    element.addEventListener("scroll", moved, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", moved);
    };
  }, [settle]);

  const toEnd = useCallback(() => {
    stuck.current = true;
    setAtEnd(true);
    settle();
  }, [settle]);

  return { box, content, atEnd, toEnd };
}
