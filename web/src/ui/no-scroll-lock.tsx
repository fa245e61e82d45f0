/** Stands in for react-remove-scroll: the page itself never scrolls, so there is nothing to lock. */
import type { ReactNode } from "react";

export function RemoveScroll({ children }: { children?: ReactNode }) {
  return children;
}
