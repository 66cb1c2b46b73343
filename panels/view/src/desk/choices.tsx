import React from "react";
import { plain } from "../format";
import { DASHES } from "../look/crop";
import { FOCUS, TWO_LINES } from "../look/styles";
import { Box, ButtonBase, Typography } from "../mui";
import { Sign } from "./decider";
import type { Dispute, Queue } from "./records";

/** A decision with its key; `found` is what a rater's annotation is towards the others. */
export type Choice = { key: string; text: string; decision: string; rater: string | null; found: string };

/** Raters have the digits, each the same one in all disputes. */
const KEYS: Record<string, string> = { consensus: "c", whole: "w", parts: "p", none: "n", both: "b", guideline: "g", skip: "s" };

const MOST_DIGITS = 9;

/** All that can be decided about a unit: the raters first, then what its kind allows. */
export function choicesOf({ given, decisions, labels }: Dispute, { words, raters }: Queue): Choice[] {
  if (!labels.length) return [];
  const digits = new Map(raters.slice(0, MOST_DIGITS).map(([name], place) => [name, String(place + 1)]));
  const takes = given.map(({ rater, text, found }) => ({
    key: digits.get(rater) ?? "",
    text,
    decision: "take",
    rater,
    found,
  }));
  const others = decisions
    .filter((name) => name in KEYS)
    .map((name) => ({ key: KEYS[name] ?? "", text: words[name] ?? name, decision: name, rater: null, found: "" }));
  return [...takes, ...others];
}

type ChoicesProps = {
  choices: readonly Choice[];
  queue: Queue;
  onChoose: (choice: Choice) => void;
  /** The rater whose outline is to stand out. */
  onPoint: (rater: string | null) => void;
};

export function Choices({ choices, queue, onChoose, onPoint }: ChoicesProps) {
  return (
    <Box sx={{ display: "grid", gap: 0.5, gridTemplateColumns: "repeat(2, minmax(0, 1fr))" }}>
      {choices.map((choice) => (
        <ButtonBase key={`${choice.decision} ${choice.rater ?? ""}`} onClick={() => onChoose(choice)}
          aria-keyshortcuts={choice.key || undefined} aria-label={nameOf(choice)} title={[nameOf(choice), choice.found].filter(Boolean).join("\n")}
          onMouseEnter={() => onPoint(choice.rater)} onMouseLeave={() => onPoint(null)}
          onFocus={() => onPoint(choice.rater)} onBlur={() => onPoint(null)}
          sx={{ ...FOCUS, ...BUTTON }}>
          {choice.key && <Sign of={choice.key} />}
          {choice.rater === null ? choice.text : <Taken choice={choice} queue={queue} />}
        </ButtonBase>
      ))}
    </Box>
  );
}

const BUTTON = {
  justifyContent: "flex-start",
  textAlign: "left",
  fontSize: 12.5,
  lineHeight: 1.2,
  px: 0.5,
  py: 0.25,
  minHeight: 25,
  border: "1px solid",
  borderColor: "divider",
  borderRadius: 1,
  "&:hover": { bgcolor: "action.hover" },
} as const;

function nameOf({ rater, text }: Choice): string {
  return rater === null ? text : `${plain(rater)} is right: ${plain(text)}`;
}

function Taken({ choice: { rater, text, found }, queue: { raters } }: { choice: Choice; queue: Queue }) {
  const place = raters.findIndex(([name]) => name === rater);
  return (
    <>
      <svg width="26" height="10" aria-hidden style={{ flexShrink: 0, marginRight: 6 }}>
        <line x1="0" x2="26" y1="5" y2="5" stroke={raters[place]?.[1] ?? "#999"} strokeWidth="3" strokeDasharray={DASHES[Math.max(0, place) % DASHES.length]} />
      </svg>
      <Box component="span" sx={{ minWidth: 0, flex: 1 }}>
        <Typography component="span" sx={{ display: "block", fontSize: 12.5, lineHeight: 1.25, overflowWrap: "anywhere" }}>
          <Box component="bdi" sx={{ fontWeight: 600 }}>{plain(rater ?? "")}</Box>
          {": "}
          <Box component="bdi">{plain(text)}</Box>
        </Typography>
        {found && <Typography component="span" color="text.secondary" sx={{ ...TWO_LINES, fontSize: 11, lineHeight: 1.25 }}>{found.split("\n").join("; ")}</Typography>}
      </Box>
    </>
  );
}
