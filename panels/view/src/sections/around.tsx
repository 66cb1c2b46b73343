/** Messages above a section, or in its place. */
import React from "react";
import { useAsking } from "../ask";
import { numberOf } from "../format";
import { Empty } from "../look/states";
import { Alert } from "../mui";
import type { Invitation } from "../records";

/** Warning about images that were changed since the run. */
export function Changed({ changed }: { changed: number }) {
  if (!changed) return null;
  const text = numberOf(changed, "image was", "images were");
  return <Alert severity="warning" sx={{ mb: 1, py: 0 }}>{text} edited or deleted since this run: make a new one.</Alert>;
}

/** Invitation without a run: what the run would show, and the form that makes it. */
export function Invited({ title, text, operator, label }: Invitation) {
  const ask = useAsking();
  return <Empty title={title} text={text} steps={[{ label, onClick: () => void ask("prompt", { operator }) }]} />;
}
