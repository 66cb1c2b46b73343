import React from "react";
import { Box, ButtonBase } from "../mui";
import { FOCUS } from "./styles";

type SegmentedProps<Key extends string> = {
  label: string;
  choices: readonly (readonly [Key, string])[];
  chosen: Key;
  onChoose: (key: Key) => void;
  /** Called when the pointer is on a choice. */
  onNear?: (key: Key) => void;
};

/** Radio group of a few choices side by side; arrow keys move between them. */
export function Segmented<Key extends string>({ label, choices, chosen, onChoose, onNear }: SegmentedProps<Key>) {
  const move = (by: number) => {
    const at = choices.findIndex(([key]) => key === chosen);
    const next = choices[(at + by + choices.length) % choices.length];
    if (next) onChoose(next[0]);
  };
  const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
  return (
    <Box role="radiogroup" aria-label={label} sx={BAR}
      onKeyDown={(event: React.KeyboardEvent) => {
        const step = steps[event.key];
        if (step) move(step);
      }}>
      {choices.map(([key, title]) => (
        <ButtonBase key={key} role="radio" aria-checked={key === chosen} tabIndex={key === chosen ? 0 : -1}
          ref={(button: HTMLElement | null) => {
            if (key === chosen && button?.parentElement?.contains(document.activeElement)) button.focus();
          }}
          onClick={() => onChoose(key)} onPointerEnter={() => onNear?.(key)} sx={{ ...FOCUS, ...PART, ...(key === chosen ? CHOSEN : {}) }}>
          {title}
        </ButtonBase>
      ))}
    </Box>
  );
}

const BAR = { display: "inline-flex", borderRadius: 1, border: "1px solid", borderColor: "divider", overflow: "hidden" };
const PART = { px: 0.875, height: 26, whiteSpace: "nowrap", fontSize: 13, color: "text.secondary", "&:hover": { bgcolor: "action.hover" } };
const CHOSEN = { bgcolor: "action.selected", color: "text.primary", fontWeight: 600 };
