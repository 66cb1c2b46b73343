import React from "react";
import { alphaText, countText, intervalText, numberOf, plain, pointsText } from "../format";
import type { Interval, Maybe } from "../format";
import { domainOf, ofAlpha } from "../look/alphas";
import type { Difference, Ranking } from "../look/alphas";
import { Card, Figure } from "../look/card";
import { More } from "../look/more";
import { Ranked } from "../look/ranked";
import { Scale } from "../look/scale";
import type { Bands } from "../look/scale";
import { FOCUS, grid, TWO_LINES } from "../look/styles";
import { Thumbnail } from "../look/thumbnail";
import type { RatedImage } from "../look/thumbnail";
import { Alert, Box, ButtonBase, Stack, Typography } from "../mui";
import type { SectionProps } from "./section";

/** `panels/data/overview.py` */
type Ceiling = { value: number; low: Maybe; high: Maybe; how: string; route: string };
export type OverviewRecord = {
  alpha: Maybe;
  interval: Interval;
  bands: Bands;
  notation: string;
  images: number;
  objects: number;
  raters: number;
  disputes: { all: number; decided: number; waiting: number; open: number };
  sentences: Partial<Record<string, string>>;
  habits: { text: string; arguments: { rater: string; kind: string } }[];
  differences: Difference[];
  furthest: Ranking[];
  hardest: (Ranking & { is_ranked: boolean })[];
  worst: RatedImage[];
  ceiling: Ceiling | null;
  advice: { short: string; text: string } | null;
  changed: number;
  note: string;
};
type Props = SectionProps<OverviewRecord>;

/** Most habits of raters to show, one per line. */
const MOST_HABITS = 2;
/** `panels/data/sentences.py`: overview without objects. */
type Said = { said: { text: string; leads_to: string }[] };

/** Overview on one screen: the quality of the labels, the main problems, and the next steps. */
export function Overview(props: SectionProps<OverviewRecord | Said>) {
  const { record } = props;
  return "said" in record ? <Sentences {...props} record={record} /> : <Dashboard {...props} record={record} />;
}

/** Key findings about image-level labels and masks; each sentence links to its section. */
function Sentences({ record: { said }, frame, go }: SectionProps<Said>) {
  const shown = new Set(frame.sections.map(({ name }) => name));
  return (
    <Card title="Key findings">
      <Stack alignItems="stretch">
        {said.map(({ text, leads_to }) =>
          shown.has(leads_to) ? <Step key={text} onClick={() => go(leads_to)}>{text}</Step>
            : <Typography key={text} sx={{ fontSize: 12.5, px: 0.5 }}>{text}</Typography>)}
      </Stack>
    </Card>
  );
}

function Dashboard(props: Props) {
  const { record } = props;
  return (
    <Stack spacing={0.75}>
      <Agreement {...props} />
      <Figures {...props} />
      <Box sx={grid(215)}>
        <Differences {...props} />
        <Furthest {...props} />
        <Hardest {...props} />
        <NextSteps {...props} />
      </Box>
      <WorstImages {...props} />
      {record.note && <Alert severity="info" sx={{ py: 0 }}>{record.note}</Alert>}
    </Stack>
  );
}

function Agreement({ record: { alpha, interval, bands, notation, sentences, habits }, go, act }: Props) {
  return (
    <Card title={sentences.Images ?? "Agreement"}>
      <Box sx={{ display: "grid", gridTemplateColumns: "auto minmax(0, 1fr)", columnGap: 1.5, alignItems: "center" }}>
        <ButtonBase onClick={() => go("Images")} title={notation} sx={{ ...FOCUS, flexDirection: "column", borderRadius: 1, px: 0.5 }}>
          <Typography component="span" data-cy="alpha" sx={{ fontSize: 30, fontWeight: 700, lineHeight: 1.05 }}>
            {alphaText(alpha)}
          </Typography>
          <Typography component="span" color="text.secondary" sx={{ fontSize: 12 }}>{intervalText(interval)}</Typography>
        </ButtonBase>
        <Scale alpha={alpha} interval={interval} bands={bands} />
      </Box>
      <Stack alignItems="stretch">
        {habits.slice(0, MOST_HABITS).map(({ text, arguments: habit }) => (
          <Step key={text} lines={1} onClick={() => act("rate", habit)}>{text}</Step>
        ))}
      </Stack>
    </Card>
  );
}

function Figures({ record: { images, raters, objects, disputes }, go }: Props) {
  const decided = `${countText(disputes.decided)} of ${numberOf(disputes.all, "decision")} made`;
  return (
    <Box sx={{ display: "grid", gap: 1, gridTemplateColumns: "repeat(4, auto)" }}>
      <Figure value={countText(images)} name={images === 1 ? "image" : "images"} onClick={() => go("Images")} />
      <Figure value={countText(raters)} name="raters" onClick={() => go("Raters")} />
      <Figure value={countText(objects)} name={objects === 1 ? "object" : "objects"} onClick={() => go("Classes")} />
      <Figure value={countText(disputes.open)} name={disputes.open === 1 ? "decision to make" : "decisions to make"} title={decided} onClick={() => go("Decide")} />
    </Box>
  );
}

function Differences({ record: { differences, sentences }, frame, act, go }: Props) {
  if (!differences.length) return null;
  const rows = differences.map(({ name, value, title }) => ({
    key: name,
    name: title,
    value,
    text: countText(value),
    colour: frame.colours.variations[name === "unmatched" ? "missing" : name],
  }));
  const most = Math.max(1, ...differences.map(({ value }) => value));
  return (
    <Card title={sentences.Variations ?? "Differences"} action={<More onClick={() => go("Variations")}>all</More>}>
      <Ranked rows={rows} domain={[0, most]} names={54} onClick={(name) => act("difference", { name })} />
    </Card>
  );
}

function Furthest({ record: { furthest, sentences }, frame, act, go }: Props) {
  const rows = furthest.map((one) => ofAlpha(one, frame.colours.raters[one.name]));
  return (
    <Card title={sentences.Raters ? `${plain(furthest[0]?.name ?? "")} is furthest from the others.` : "Raters"}
      action={<More onClick={() => go("Raters")}>all</More>}>
      <Ranked rows={rows} domain={domainOf(furthest)} onClick={(name) => act("rater", { name })} />
    </Card>
  );
}

function Hardest({ record: { hardest, sentences }, act, go }: Props) {
  if (!hardest.length) return null;
  return (
    <Card title={sentences.Classes ?? "Classes (too few images to rank them)"} action={<More onClick={() => go("Classes")}>all</More>}>
      <Ranked rows={hardest.map((one) => ofAlpha(one))} domain={domainOf(hardest)} onClick={(name) => act("category", { name })} />
    </Card>
  );
}

function NextSteps({ record, act, go }: Props) {
  const { ceiling, advice, changed, disputes, sentences } = record;
  return (
    <Card title="Next steps">
      <Stack alignItems="stretch">
        {disputes.open > 0 && <Step onClick={() => go("Decide")}>{sentences.Decide}</Step>}
        {ceiling && <Step onClick={() => go("Ceiling")} title={ceiling.route}>{ceilingText(ceiling)}</Step>}
        {advice && <Step onClick={() => go("Threshold")} title={advice.text}>{advice.short}</Step>}
        {changed > 0 && <Step onClick={() => go("Runs")}>{sentences.Runs}</Step>}
        <Step onClick={() => act("next_images")}>Images for one more rater</Step>
        <Step onClick={() => act("report")}>Write a report</Step>
      </Stack>
    </Card>
  );
}

function ceilingText({ value, low, high, how }: Ceiling): string {
  const interval = low == null || high == null ? "" : ` [${pointsText(low)},\u00a0${pointsText(high)}]`;
  return `Ceiling for models: mAP ${pointsText(value)}${interval}, ${how}.`;
}

type StepProps = { children: string | undefined; title?: string; lines?: number; onClick: () => void };

function Step({ children, title, lines = 2, onClick }: StepProps) {
  return (
    <ButtonBase title={[children, title].filter(Boolean).join("\n")} onClick={onClick}
      sx={{ ...FOCUS, justifyContent: "flex-start", textAlign: "left", fontSize: 12.5, lineHeight: 1.3, py: "1px", px: 0.5,
        borderRadius: 1, "&:hover": { bgcolor: "action.hover" } }}>
      <Box component="span" aria-hidden sx={{ mr: 0.75, color: "primary.main" }}>→</Box>
      <Box component="span" sx={{ ...TWO_LINES, WebkitLineClamp: lines }}>{children}</Box>
    </ButtonBase>
  );
}

function WorstImages({ record: { worst }, act }: Props) {
  if (!worst.length) return null;
  return (
    <Card title="Images with the lowest agreement" action={<More onClick={() => act("worst")}>in the grid</More>}>
      <Box sx={{ display: "grid", gap: 0.75, gridTemplateColumns: `repeat(${worst.length}, minmax(0, 1fr))` }}>
        {worst.map((image) => <Thumbnail key={image.sample_id} image={image} onClick={() => act("open", { sample: image.sample_id })} />)}
      </Box>
    </Card>
  );
}
