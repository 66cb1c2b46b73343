import React, { useCallback, useState } from "react";
import { alphaText, countText, intervalText, numberOf, per100Text, plain, signedText, withInterval } from "../format";
import type { Interval, Maybe } from "../format";
import { domainOf, ofAlpha } from "../look/alphas";
import type { Ranking } from "../look/alphas";
import { Card } from "../look/card";
import { Heading } from "../look/heading";
import { Matrix } from "../look/matrix";
import { More } from "../look/more";
import { Ranked } from "../look/ranked";
import { countsText, RATES, RatesTable } from "../look/rates";
import type { Rated, RateName } from "../look/rates";
import { Reading } from "../look/reading";
import type { Caption } from "../look/reading";
import { Segmented } from "../look/segmented";
import { Empty } from "../look/states";
import { grid } from "../look/styles";
import type { Column } from "../look/table";
import { Box, Stack, Typography } from "../mui";
import type { SectionProps } from "./section";

/** `panels/data/raters.py` */
type Confused = { own: string; other: string; count: number };
/** `RaterCard` of the library. */
type Rater = Rated & {
  images: number;
  labels: number;
  alpha: Maybe;
  alpha_interval: Interval;
  vitality: Maybe;
  vitality_interval: Interval;
  merges_with: Record<string, number>;
  splits_with: Record<string, number>;
  confusions: Confused[];
};
type Numbers = Maybe[][];
type Pairs = { title: string; raters: string[]; alpha: Numbers; low: Numbers; high: Numbers; images: number[][] };
type Sent = {
  cards: Rater[];
  has_rates: boolean;
  pairs: Pairs | null;
  why_no_pairs: string;
  why_no_vitality: string;
  people: Ranking[];
  sessions: Ranking[];
  titles: { vitality: string; people: string; sessions: string };
  captions: { vitality: Caption; collaboration: Caption; intra_rater: Caption; team: Caption };
};
type Props = SectionProps<Sent>;

type Page = "each" | "pairs" | "sessions";
const PAGES: readonly (readonly [Page, string])[] = [["each", "Each rater"], ["pairs", "Pairs"], ["sessions", "Sessions"]];

/** Differences of each rater from the others, comparison of pairs, and sessions. */
export function Raters(props: Props) {
  const [page, setPage] = useState<Page>("each");
  const [named, setNamed] = useState<string | null>(props.filter.rater);
  const choose = (name: string) => {
    setNamed(name);
    setPage("each");
  };
  return (
    <Stack spacing={1} alignItems="stretch">
      <Box><Segmented label="Pages" choices={PAGES} chosen={page} onChoose={setPage} /></Box>
      {page === "each" && <Each {...props} named={named} onChoose={setNamed} />}
      {page === "pairs" && <EveryTwo {...props} onChoose={choose} />}
      {page === "sessions" && <Sessions {...props} />}
    </Stack>
  );
}

type EachProps = Props & { named: string | null; onChoose: (name: string) => void };

function Each(props: EachProps) {
  const { record: { cards, has_rates }, named, onChoose, act } = props;
  const card = cards.find(({ rater }) => rater === named) ?? cards[0];
  const onRate = useCallback((rater: string, kind: RateName) => act("rate", { rater, kind }), [act]);
  return (
    <>
      <Card title="How often each rater differs, per object" action={has_rates || <More onClick={() => act("find")}>Find differences</More>}>
        <RatesTable rows={cards} before={BEFORE} onRate={onRate} onRow={({ rater }) => onChoose(rater)}
          isChosen={({ rater }) => rater === card?.rater} />
      </Card>
      {card && <OneRater {...props} card={card} />}
    </>
  );
}

const BEFORE: Column<Rater>[] = [
  {
    key: "alpha", title: "α", hover: "Alpha of the rater's pairs with the others, mean over images", isNumber: true,
    by: ({ alpha }) => alpha ?? null,
    show: ({ alpha, alpha_interval: ends }) => <Box component="span" title={withInterval(alpha, ends)}>{alphaText(alpha, 3)}</Box>,
  },
];

/** Summary of one rater. */
function OneRater({ record, card, frame, act }: Props & { card: Rater }) {
  const { rater, alpha, vitality, images, labels, confusions, alpha_interval: ends, vitality_interval: between } = card;
  const name = plain(rater);
  return (
    <Card title={`${name}: ${numberOf(labels, "label")} on ${numberOf(images, "image")}`}
      action={<More onClick={() => act("sheet", { rater })}>Feedback sheet</More>}>
      <Typography sx={{ fontSize: 13, mb: 0.5 }}>
        Agreement with the others: α {withInterval(alpha, ends)}
        {vitality != null && `; with ${name} minus without: ${signedText(vitality)} ${intervalText(between, 3)}`}
        <More onClick={() => act("rater", { rater })}>images, lowest agreement first</More>
      </Typography>
      <Box sx={grid(205)}>
        {record.has_rates && <Habits card={card} colours={frame.colours.variations} onClick={(kind) => act("rate", { rater, kind })} />}
        {record.has_rates && <Confusions rows={confusions} onClick={(pair) => act("confusion", pair)} />}
      </Box>
    </Card>
  );
}

const COLOUR_OF: Record<RateName, string> = {
  missing: "missing", additional: "additional", wrong_class: "wrong_class", merges: "merged", splits: "merged",
};

type HabitsProps = { card: Rater; colours: Record<string, string>; onClick: (kind: string) => void };

function Habits({ card, colours, onClick }: HabitsProps) {
  const rows = RATES.map((about) => {
    const [rate, counts] = [card.rates[about.key], card.counts[about.key]];
    return {
      key: about.key,
      name: about.short,
      value: rate,
      text: per100Text(rate),
      title: counts ? `${about.title}: ${countsText(counts, about)}` : about.title,
      colour: colours[COLOUR_OF[about.key]],
    };
  });
  return (
    <Box>
      <Heading>Habits</Heading>
      <Ranked rows={rows} domain={[0, 100]} onClick={onClick} />
      <Partners text="merges what" pairs={card.merges_with} does="splits" />
      <Partners text="splits what" pairs={card.splits_with} does="merges" />
    </Box>
  );
}

function Partners({ text, pairs, does }: { text: string; pairs: Record<string, number>; does: string }) {
  const others = Object.entries(pairs).map(([name, count]) => `${plain(name)} ${does} (${countText(count)})`).join(", ");
  return others && <Typography color="text.secondary" sx={{ fontSize: 12.5, px: 0.5 }}>{text} {others}</Typography>;
}

function Confusions({ rows, onClick }: { rows: Confused[]; onClick: (pair: { own: string; other: string }) => void }) {
  const shown = rows.map((pair, number) => ({
    key: String(number),
    name: `${plain(pair.own)} / ${plain(pair.other)}`,
    value: pair.count,
    text: countText(pair.count),
    title: `Says ${plain(pair.own)} where others say ${plain(pair.other)}: ${numberOf(pair.count, "finding")}`,
  }));
  const open = (key: string) => {
    const pair = rows[Number(key)];
    if (pair) onClick({ own: pair.own, other: pair.other });
  };
  return (
    <Box>
      <Heading>Says / others say</Heading>
      {rows.length ? (
        <Ranked rows={shown} domain={[0, Math.max(1, ...rows.map(({ count }) => count))]} names={80} onClick={open} />
      ) : (
        <Typography color="text.secondary" sx={{ fontSize: 13, px: 0.5 }}>never</Typography>
      )}
    </Box>
  );
}

function EveryTwo({ record, act, onChoose }: Props & { onChoose: (name: string) => void }) {
  const { pairs, why_no_pairs, why_no_vitality, cards, titles, captions } = record;
  return (
    <>
      <Card title={pairs?.title ?? why_no_pairs}>
        {pairs && <Reading of={captions.collaboration} />}
        {pairs && <PairMatrix pairs={pairs} onClick={(raters) => act("pair", { raters })} />}
      </Card>
      <Card title={titles.vitality || why_no_vitality}>
        {titles.vitality && <Reading of={captions.vitality} />}
        {titles.vitality && <Vitality cards={cards} onChoose={onChoose} />}
      </Card>
    </>
  );
}

function PairMatrix({ pairs, onClick }: { pairs: Pairs; onClick: (raters: string[]) => void }) {
  const { raters, alpha, low, high, images } = pairs;
  const at = (row: number, column: number) => [raters[row] ?? "", raters[column] ?? ""];
  const title = (row: number, column: number) => {
    const number = withInterval(alpha[row]?.[column], [low[row]?.[column], high[row]?.[column]]);
    const how = row < column ? "mean over images" : "all units at once";
    return `${at(row, column).map((name) => plain(name)).join(" and ")}: ${number}, ${how}, ${numberOf(images[row]?.[column] ?? 0, "image")}`;
  };
  return (
    <Box sx={{ overflowX: "auto" }}>
      <Matrix label="Alpha of every two raters" rows={raters} columns={raters} values={alpha} domain={[0, 1]}
        show={(value) => alphaText(value)} title={title} onClick={(row, column) => onClick(at(row, column))} />
    </Box>
  );
}

function Vitality({ cards, onChoose }: { cards: Rater[]; onChoose: (name: string) => void }) {
  const rows = cards.map(({ rater, vitality, vitality_interval: [low, high], images }) => (
    { name: rater, value: vitality, low, high, title: "", images }
  ));
  const ends = rows.flatMap(({ value, low, high }) => [value ?? 0, low ?? 0, high ?? 0]);
  const domain: [number, number] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const sorted = [...rows].sort((one, other) => (one.value ?? 9) - (other.value ?? 9));
  return <Ranked rows={sorted.map((row) => ({ ...ofAlpha(row), text: signedText(row.value) }))} domain={domain} onClick={onChoose} />;
}

function Sessions({ record: { people, sessions, titles, captions }, act }: Props) {
  if (!people.length) {
    const text = "If raters label the same images again, this page shows how much each rater agrees with themselves.";
    const steps = [{ label: "Load labels of another session", onClick: () => act("load") }];
    return <Empty title="No rater has several sessions" text={text} steps={steps} />;
  }
  return (
    <>
      <Card title={titles.people}>
        <Reading of={captions.intra_rater} />
        <Ranked rows={people.map((one) => ofAlpha(one))} domain={domainOf(people)} onClick={(name) => act("person", { name })} />
      </Card>
      <Card title={titles.sessions}>
        <Reading of={captions.team} />
        <Ranked rows={sessions.map((one) => ofAlpha(one))} domain={domainOf(sessions)} />
      </Card>
    </>
  );
}
