import React from "react";
import type { ReactNode } from "react";
import { Button } from "../mui";
import { FOCUS } from "./styles";

/** Action of a card. */
export function More({ children, onClick }: { children: ReactNode; onClick: () => void }) {
  return <Button size="small" onClick={onClick} sx={{ ...FOCUS, py: 0, minWidth: 0, textTransform: "none", whiteSpace: "nowrap", flexShrink: 0 }}>{children}</Button>;
}
