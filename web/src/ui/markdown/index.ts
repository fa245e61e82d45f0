export { copyText } from "./code";
export { Markdown } from "./markdown";
