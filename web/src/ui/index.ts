/** The kit. It knows no feature. */
export { Avatar, type Presence } from "./avatar";
export { Banner } from "./banner";
export { Logo } from "./brand";
export { Button, ButtonLink, IconButton } from "./button";
export { cx } from "./cx";
export { Dialog, Sheet } from "./dialog";
export { Field, Input, Password, SearchField, Select, TextArea, type Wiring } from "./field";
export { Menu, MenuItem, MenuLabel, MenuSeparator } from "./menu";
export { Popover } from "./popover";
export { Segmented } from "./segmented";
export { Empty, Failure, Skeleton } from "./states";
export { Switch } from "./switch";
export { Toaster, toast } from "./toast";
export { Tooltip, TooltipProvider } from "./tooltip";
