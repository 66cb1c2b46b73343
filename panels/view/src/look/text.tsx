import React from "react";
import type { ReactNode } from "react";
import { Button, Typography } from "../mui";
import { FOCUS } from "./styles";

/** The finding of a page. */
export function Finding({ children }: { children: ReactNode }) {
  return <Typography component="h3" sx={{ fontSize: 15, fontWeight: 600, lineHeight: 1.35 }}>{children}</Typography>;
}

/** What it is over, how to read it, what speaks against it. */
export function Note({ children }: { children: ReactNode }) {
  return <Typography color="text.secondary" sx={{ fontSize: 13, whiteSpace: "pre-line" }}>{children}</Typography>;
}

type StepProps = { children: ReactNode; onClick: () => void; isMain?: boolean; title?: string };

/** A further step. */
export function StepButton({ children, onClick, isMain, title }: StepProps) {
  return (
    <Button size="small" variant={isMain ? "contained" : "outlined"} onClick={onClick} title={title}
      sx={{ ...FOCUS, textTransform: "none" }}>
      {children}
    </Button>
  );
}
