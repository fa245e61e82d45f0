export { copyText } from "./code";
export { SafeLink } from "./link";
export { Markdown } from "./markdown";
