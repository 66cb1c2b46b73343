import React from "react";
import { Typography } from "../mui";

/** Heading of a part of a card. */
export function Heading({ children }: { children: string }) {
  return <Typography component="h4" sx={{ fontSize: 12.5, fontWeight: 600, px: 0.5 }}>{children}</Typography>;
}
