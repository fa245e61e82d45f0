/** A vendor's name as the reader knows it. */
import { useT } from "@/i18n";
import type { Vendor } from "./vendors";

export function useVendorName(): (vendor: Vendor) => string {
  const t = useT();
  return ({ name }) =>
    typeof name === "string" ? name : t(name.key, name.name ? { name: name.name } : {});
}
