import React, { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { KeyboardEvent } from "react";
import { alphaText, countText, numberOf, plain } from "../format";
import { Crop, DASHES, fetchAhead } from "../look/crop";
import type { Outline } from "../look/crop";
import { Loading } from "../look/states";
import { FOCUS } from "../look/styles";
import { Alert, Box, Button, InputBase, LinearProgress, Stack, Typography } from "../mui";
import { choicesOf, Choices, OtherLabel, typedLabels } from "./choices";
import type { Choice } from "./choices";
import type { Desk } from "./desk";
import type { Dispute, Queue } from "./records";

/** Number of images to prefetch. */
const FETCHED = 4;

/** Height of the crop, so that a layout with one column fits the window. */
const HEIGHT = "max(180px, calc(100vh - 600px))";

const NAME = "kalos-who";

/** Render again with every change of a desk. */
export function useDesk(desk: Desk): void {
  useSyncExternalStore(desk.subscribe, () => desk.version);
}

type DeciderProps = {
  desk: Desk;
  /** Text without a dispute. */
  nothing: string;
  /** Whether it is next to an open sample; keys without effect are then left to the App. */
  isBeside?: boolean;
};

/** Disputes one by one: the crop, the labels of each rater, and a key for each decision. */
export function Decider({ desk, nothing, isBeside = false }: DeciderProps) {
  useDesk(desk);
  const box = useRef<HTMLDivElement>(null);
  const typing = useRef<HTMLInputElement>(null);
  const [only, setOnly] = useState<string | null>(null);
  const [isWhole, setIsWhole] = useState(false);
  const [note, setNote] = useState("");
  const [who, setWho] = useState(() => localStorage.getItem(NAME) ?? "");
  const now = desk.now;
  const choices = now ? choicesOf(now, desk.queue) : [];
  const typed = now ? typedLabels(now, desk.queue) : [];

  useEffect(() => box.current?.focus({ preventScroll: true }), [desk]);
  useEffect(() => {
    fetchAhead(desk.ahead(FETCHED));
    setNote("");
    setOnly(null);
    setIsWhole(false);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- with each dispute
  }, [now?.id]);

  const choose = ({ decision, rater, category }: Pick<Choice, "decision" | "rater" | "category">) =>
    desk.choose({ decision, rater, category, note: note.trim(), who: who.trim() });
  const write = (name: string) => {
    localStorage.setItem(NAME, name);
    setWho(name);
  };
  const keys: Record<string, () => boolean> = {
    u: () => (desk.undo(), true),
    i: () => (setIsWhole(!isWhole), true),
    l: () => typed.length > 0 && (typing.current?.focus(), true),
    a: () => (now && desk.open(now.sample, true), true),
    o: () => !isBeside && (now && desk.open(now.sample), true),
    ArrowRight: () => desk.move(1) || !isBeside,
    ArrowLeft: () => desk.move(-1) || !isBeside,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).tagName === "INPUT") return;
    const choice = choices.find(({ key }) => key === event.key);
    if (choice) choose(choice);
    else if (!keys[event.key]?.()) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys for its buttons
    <Box ref={box} tabIndex={-1} role="group" aria-label="Decide by keys" data-cy="decider" onKeyDown={onKeyDown} sx={{ outline: "none" }}>
      <Progress desk={desk} />
      <Notices desk={desk} onDone={() => box.current?.focus()} />
      {now ? (
        <Box sx={{ display: "grid", gap: 1, gridTemplateColumns: "repeat(auto-fit, minmax(min(250px, 100%), 1fr))" }}>
          <Seen dispute={now} queue={desk.queue} only={only} isWhole={isWhole} isBeside={isBeside} />
          <Box>
            {desk.queue.questions > 1 && (
              <Typography component="h3" noWrap sx={{ fontSize: 14, fontWeight: 600, mb: 0.5 }}><bdi>{plain(now.question)}</bdi></Typography>
            )}
            <Last dispute={now} queue={desk.queue} />
            <Choices choices={choices} queue={desk.queue} onChoose={choose} onPoint={setOnly} />
            {typed.length > 0 && (
              <OtherLabel labels={typed} field={typing} onDone={() => box.current?.focus()}
                onChoose={(category) => choose({ decision: "label", rater: null, category })} />
            )}
            <Stack direction="row" flexWrap="wrap" sx={{ mt: 0.5, columnGap: 0.5 }}>
              <Step name="Undo" sign="u" isOff={!desk.done.length} onClick={() => desk.undo()} />
              {now.outlines.length > 0 && <Step name={isWhole ? "Part" : "Whole image"} sign="i" onClick={() => setIsWhole(!isWhole)} />}
              {!isBeside && <Step name="Open" sign="o" onClick={() => desk.open(now.sample)} />}
              <Step name="Annotate" sign="a" onClick={() => desk.open(now.sample, true)} />
              <Step name="Before" sign="←" onClick={() => desk.move(-1)} />
              <Step name="After" sign="→" onClick={() => desk.move(1)} />
            </Stack>
            <Stack direction="row" spacing={0.5} sx={{ mt: 0.5 }}>
              <Field label="Note" value={note} onWrite={setNote} onDone={() => box.current?.focus()} />
              <Field label="Your name" value={who} onWrite={write} onDone={() => box.current?.focus()} />
            </Stack>
          </Box>
        </Box>
      ) : desk.isEnded || isBeside ? (
        <Stack spacing={1} alignItems="flex-start">
          <Alert severity="success" sx={{ py: 0 }}>{nothing}</Alert>
          <Step name="Undo" sign="u" isOff={!desk.done.length} onClick={() => desk.undo()} />
        </Stack>
      ) : <Loading heights={[300]} />}
    </Box>
  );
}

/** Number of decisions made, waiting and unsaved. */
function Progress({ desk }: { desk: Desk }) {
  const { all, decided, waiting } = desk.counts;
  const parts = [
    `${countText(decided)} of ${numberOf(all, "decision")} made`,
    waiting ? `${countText(waiting)} waiting for the guideline` : "",
    desk.outbox.waiting ? `storing ${countText(desk.outbox.waiting)}` : "",
  ];
  return (
    <Stack direction="row" spacing={1} alignItems="center" sx={{ mb: 0.5, minHeight: 22 }}>
      <LinearProgress variant="determinate" aria-label="Decided" value={(100 * decided) / Math.max(1, all)}
        sx={{ flex: 1, height: 6, borderRadius: 3 }} />
      <Typography data-cy="progress" role="status" sx={{ fontSize: 12.5 }}>{parts.filter(Boolean).join(", ")}</Typography>
    </Stack>
  );
}

/** Decisions that could not be sent, and decisions of others. */
function Notices({ desk, onDone }: { desk: Desk; onDone: () => void }) {
  const count = numberOf(desk.outbox.waiting, "decision is", "decisions are");
  return (
    <>
      {desk.outbox.lost && (
        <Alert severity="error" sx={{ mb: 0.5, py: 0 }}
          action={<Button color="inherit" size="small" onClick={() => { desk.outbox.again(); onDone(); }} sx={FOCUS}>Send now</Button>}>
          The server does not answer: {count} kept here and sent again. {desk.outbox.lost}
        </Alert>
      )}
      {desk.notices.map(({ id, text }) => (
        <Alert key={id} severity="warning" onClose={() => desk.dismiss(id)} sx={{ mb: 0.5, py: 0 }}>
          {text}{" "}
          <Button color="inherit" size="small" onClick={() => { desk.look(id); onDone(); }} sx={{ ...FOCUS, py: 0 }}>Look</Button>
        </Alert>
      ))}
    </>
  );
}

type SeenProps = { dispute: Dispute; queue: Queue; only: string | null; isWhole: boolean; isBeside: boolean };

function Seen({ dispute, queue, only, isWhole, isBeside }: SeenProps) {
  const { file, alpha, given, size, path } = dispute;
  const label = `${[plain(file), queue.questions > 1 ? plain(dispute.question) : ""].filter(Boolean).join(", ")}: ${given.map(({ rater, text }) => `${plain(rater)}: ${plain(text)}`).join("; ")}`;
  const about = [plain(file), alpha == null ? "" : `${queue.measure} ${alphaText(alpha)}`];
  if (dispute.units > 1) about.push(`${numberOf(dispute.units, queue.unit)}: a whole and its parts`);
  return (
    <Box sx={{ minWidth: 0 }} data-cy="crop" data-id={dispute.id}>
      <Crop path={path} size={size} outlines={drawn(dispute, queue)} label={label} only={only} isWhole={isWhole}
        height={isBeside ? "30vh" : HEIGHT} />
      <Typography noWrap title={about.filter(Boolean).join(", ")} color="text.secondary" sx={{ fontSize: 12, mt: 0.25 }}>
        {about.filter(Boolean).join(", ")}
      </Typography>
    </Box>
  );
}

/** Return the outlines with the colour and dash of their rater. */
function drawn({ outlines }: Dispute, { raters }: Queue): Outline[] {
  return outlines.map(({ label, rater, rings, points }, number) => {
    const place = raters.findIndex(([name]) => name === rater);
    return {
      id: `${label}-${number}`,
      rater,
      rings,
      points,
      colour: raters[place]?.[1] ?? "#999",
      dash: DASHES[Math.max(0, place) % DASHES.length] ?? "",
    };
  });
}

/** The last decision, who made it, and when. */
function Last({ dispute: { made, labels }, queue }: { dispute: Dispute; queue: Queue }) {
  if (!labels.length) return <Typography sx={{ fontSize: 13 }}>Its labels were deleted.</Typography>;
  if (!made || made.decision === "skip") return null;
  const right = made.rater ?? made.category;
  const what = right === null ? queue.words[made.decision] : `${plain(right)} is right`;
  const who = made.who ? ` by ${plain(made.who)}` : "";
  const when = made.when ? `, ${made.when.slice(0, 16).replace("T", " ")} UTC` : "";
  const note = made.note ? `. Note: ${plain(made.note)}` : "";
  return <Alert severity="info" sx={{ mb: 0.5, py: 0 }}>{`Decided: ${what}${who}${when}${note}`}</Alert>;
}

type StepProps = { name: string; sign: string; onClick: () => void; isOff?: boolean };

function Step({ name, sign, onClick, isOff = false }: StepProps) {
  return (
    <Button size="small" disabled={isOff} onClick={onClick}
      sx={{ ...FOCUS, textTransform: "none", py: 0, px: 0.5, minWidth: 0, color: "text.primary" }}>
      <Sign of={sign} />{name}
    </Button>
  );
}

/** A key of the keyboard. */
export function Sign({ of }: { of: string }) {
  return (
    <Box component="kbd" aria-hidden sx={{ mr: 0.5, px: 0.5, border: "1px solid", borderColor: "divider", borderRadius: 0.5,
      fontSize: 11, fontFamily: "inherit", lineHeight: 1.4 }}>{of}</Box>
  );
}

type FieldProps = { label: string; value: string; onWrite: (text: string) => void; onDone: () => void };

function Field({ label, value, onWrite, onDone }: FieldProps) {
  return (
    <InputBase value={value} placeholder={label} inputProps={{ "aria-label": label }} onChange={(event) => onWrite(event.target.value)}
      onKeyDown={(event: KeyboardEvent) => {
        event.stopPropagation();
        if (event.key === "Enter" || event.key === "Escape") onDone();
      }}
      sx={{ flex: 1, fontSize: 13, px: 0.75, height: 28, border: "1px solid", borderColor: "divider", borderRadius: 1,
        "&:focus-within": { outline: "2px solid var(--fo-palette-primary-main)" } }} />
  );
}
