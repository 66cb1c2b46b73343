import React, { useId, useState } from "react";
import type { KeyboardEvent, Ref } from "react";
import { plain } from "../format";
import { DASHES } from "../look/crop";
import { FOCUS, TWO_LINES } from "../look/styles";
import { Box, ButtonBase, InputBase, Typography } from "../mui";
import { Sign } from "./decider";
import type { Dispute, Queue } from "./records";

/** A decision with its key; `found` describes how a rater's annotation differs from the others. */
export type Choice = { key: string; text: string; decision: string; rater: string | null; category: string | null; found: string };

/** Keys of decisions; raters have digits, the same ones in all disputes. */
const KEYS: Record<string, string> = { consensus: "c", whole: "w", parts: "p", none: "n", both: "b", guideline: "g", skip: "s" };

const MOST_DIGITS = 9;

/** Keys of the labels of a question, the same ones in all its disputes; with more labels, the label is typed. */
const LETTERS = "qwertyzxc";

/** Return the labels to type, if there are too many for keys. */
export function typedLabels({ question, decisions }: Dispute, { options }: Queue): string[] {
  const labels = decisions.includes("label") ? (options[question] ?? []) : [];
  return labels.length > LETTERS.length ? labels : [];
}

/** Return all decisions about a unit: the raters first, then the decisions of its kind. */
export function choicesOf(dispute: Dispute, queue: Queue): Choice[] {
  const { given, decisions, labels, question } = dispute;
  const { words, raters, options } = queue;
  if (!labels.length) return [];
  const digits = new Map(raters.slice(0, MOST_DIGITS).map(([name], place) => [name, String(place + 1)]));
  const takes = given.map(({ rater, text, found }) => ({
    key: digits.get(rater) ?? "",
    text,
    decision: "take",
    rater,
    category: null,
    found,
  }));
  const isGiven = new Set(given.map(({ text }) => text));
  const keyed = decisions.includes("label") && !typedLabels(dispute, queue).length ? (options[question] ?? []) : [];
  const chosen = keyed
    .map((category, place) => ({ key: LETTERS[place] ?? "", text: category, decision: "label", rater: null, category, found: "" }))
    .filter(({ text }) => !isGiven.has(plain(text)));
  const others = decisions
    .filter((name) => name in KEYS)
    .map((name) => ({ key: KEYS[name] ?? "", text: words[name] ?? name, decision: name, rater: null, category: null, found: "" }));
  return [...takes, ...chosen, ...others];
}

type ChoicesProps = {
  choices: readonly Choice[];
  queue: Queue;
  onChoose: (choice: Choice) => void;
  /** Called with the rater whose outline to highlight. */
  onPoint: (rater: string | null) => void;
};

export function Choices({ choices, queue, onChoose, onPoint }: ChoicesProps) {
  return (
    <Box sx={{ display: "grid", gap: 0.5, gridTemplateColumns: "repeat(2, minmax(0, 1fr))" }}>
      {choices.map((choice) => (
        <ButtonBase key={`${choice.decision} ${choice.rater ?? choice.category ?? ""}`} onClick={() => onChoose(choice)}
          aria-keyshortcuts={choice.key || undefined} aria-label={nameOf(choice)} title={[nameOf(choice), choice.found].filter(Boolean).join("\n")}
          onMouseEnter={() => onPoint(choice.rater)} onMouseLeave={() => onPoint(null)}
          onFocus={() => onPoint(choice.rater)} onBlur={() => onPoint(null)}
          sx={{ ...FOCUS, ...BUTTON }}>
          {choice.key && <Sign of={choice.key} />}
          {choice.rater === null ? <Box component="bdi">{plain(choice.text)}</Box> : <Taken choice={choice} queue={queue} />}
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

function nameOf({ rater, category, text }: Choice): string {
  if (category !== null) return `Another label is right: ${plain(text)}`;
  return rater === null ? text : `${plain(rater)} is right: ${plain(text)}`;
}

type OtherProps = { labels: readonly string[]; field: Ref<HTMLInputElement>; onChoose: (category: string) => void; onDone: () => void };

/** Input for a typed label, with completions. */
export function OtherLabel({ labels, field, onChoose, onDone }: OtherProps) {
  const [text, setText] = useState("");
  const list = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Enter" && labels.includes(text)) onChoose(text);
    if (event.key === "Escape" || (event.key === "Enter" && labels.includes(text))) {
      setText("");
      onDone();
    }
  };
  return (
    <Box sx={{ display: "flex", alignItems: "center", mt: 0.5, fontSize: 12.5 }}>
      <Sign of="l" />
      <InputBase value={text} inputRef={field} placeholder="Another label: type it, then Enter" onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown} inputProps={{ list, "aria-label": "Another label", "aria-keyshortcuts": "l" }}
        sx={{ flex: 1, fontSize: 13, px: 0.75, height: 28, border: "1px solid", borderColor: "divider", borderRadius: 1,
          "&:focus-within": { outline: "2px solid var(--fo-palette-primary-main)" } }} />
      <datalist id={list}>{labels.map((label) => <option key={label} value={label} />)}</datalist>
    </Box>
  );
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
