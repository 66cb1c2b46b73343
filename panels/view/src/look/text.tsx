import React from "react";
import type { ReactNode } from "react";
import { Button, Typography } from "../mui";
import { FOCUS } from "./styles";

/** Finding of a page. */
export function Finding({ children }: { children: ReactNode }) {
  return <Typography component="h3" sx={{ fontSize: 15, fontWeight: 600, lineHeight: 1.35 }}>{children}</Typography>;
}

/** Note on the data, the reading or the doubts of a finding. */
export function Note({ children }: { children: ReactNode }) {
  return <Typography color="text.secondary" sx={{ fontSize: 13, whiteSpace: "pre-line" }}>{children}</Typography>;
}

type StepProps = { children: ReactNode; onClick: () => void; isMain?: boolean; title?: string };

/** Button for a further step. */
export function StepButton({ children, onClick, isMain, title }: StepProps) {
  return (
    <Button size="small" variant={isMain ? "contained" : "outlined"} onClick={onClick} title={title}
      sx={{ ...FOCUS, textTransform: "none" }}>
      {children}
    </Button>
  );
}
