import React, { useState } from "react";
import { alphaText, countText, numberOf, plain, withInterval } from "../format";
import type { Maybe } from "../format";
import { Card } from "../look/card";
import { Menu } from "../look/menu";
import { Empty } from "../look/states";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Finding, StepButton } from "../look/text";
import { nameColumn, numberColumn } from "../look/value";
import type { Value } from "../look/value";
import { Alert, Box, Stack } from "../mui";
import { entriesOf, Paged } from "./paged";
import type { Chooses, Shown } from "./paged";
import type { SectionProps } from "./section";

/** `panels/data/runs.py` */
type Listed = {
  key: string;
  made: string;
  what: string[];
  notation: string;
  images: number;
  alpha: Maybe;
  /** null: the run cannot be read */
  changed: number | null;
  said: string[];
};
type Listing = { analysis: string; runs: Listed[] };
type Difference = { name: string; before: Maybe; after: Maybe; change: Maybe; is_clear: boolean; images: number };
type Setting = { name: string; before: string; after: string };
type Comparison = {
  analysis: string;
  against: string;
  comparable: string[];
  change: Value;
  images: { improved: number; worsened: number };
  doubts: string[];
  classes: Difference[];
  raters: Difference[];
  settings: Setting[];
};
type Sent = Shown<"List", Listing> | Shown<"Compare", Comparison | null>;
type Acts = Pick<SectionProps<Sent>, "act">;

/** List of all runs, and comparison of two analyses. */
export function Runs(props: SectionProps<Sent>) {
  return (
    <Paged section="Runs" of={props}>
      {({ record, frame, act, choose }) => {
        if (record.page === "List") return <ListPage of={record.shown} act={act} />;
        if (record.shown) return <ComparePage of={record.shown} act={act} choose={choose} />;
        return <OnlyOne onUpdate={() => act("do", { operator: "update_run", key: frame.analysis })} />;
      }}
    </Paged>
  );
}

function OnlyOne({ onUpdate }: { onUpdate: () => void }) {
  return (
    <Empty title="There is only one analysis" text="Update repeats it with the current labels. This page then shows what changed."
      steps={[{ label: "Update", onClick: onUpdate }]} />
  );
}

const ACTIONS = [["update_run", "Update"], ["rename_run", "Rename"], ["describe_run", "Note and status"], ["delete_run", "Delete"]] as const;

function stateText(changed: number | null): string {
  if (changed === null) return "cannot be read";
  return changed ? `${numberOf(changed, "image")} edited since` : "up to date";
}

function ListPage({ of: { analysis, runs }, act }: { of: Listing } & Acts) {
  const [wanted, setWanted] = useState(analysis);
  const picked = runs.find(({ key }) => key === wanted)?.key ?? runs[0]?.key;
  const columns: Column<Listed>[] = [
    { key: "key", title: "Run", show: ({ key }) => <Box component={key === picked ? "strong" : "span"} title={plain(key, Infinity)}>{plain(key)}</Box>, by: ({ key }) => key },
    { key: "made", title: "Made", show: ({ made }) => made, by: ({ made }) => made },
    { key: "what", title: "What", show: ({ what, notation }) => <span title={notation}>{what.join(", ")}</span> },
    numberColumn("images", "Images", ({ images }) => images, countText),
    numberColumn("alpha", "α", ({ alpha }) => alpha, (value) => alphaText(value, 3)),
    { key: "state", title: "State", show: ({ changed, said }) => [stateText(changed), ...said.map((text) => plain(text))].join("; ") },
  ];
  return (
    <Stack spacing={1}>
      <Stack direction="row" gap={1} alignItems="center" flexWrap="wrap">
        <Finding>{plain(picked ?? "")}</Finding>
        {ACTIONS.map(([operator, label]) => (
          <StepButton key={operator} onClick={() => act("do", { operator, key: picked })}>{label}</StepButton>
        ))}
      </Stack>
      <Card title="All runs, newest first, one row per analysis: click one, then choose an action">
        <Sortable label="Runs" rows={runs} columns={columns} keyOf={({ key }) => key} onClick={({ key }) => setWanted(key)} />
      </Card>
    </Stack>
  );
}

const alpha = (value: number) => alphaText(value, 3);
const DIFFERENCES: Column<Difference>[] = [
  nameColumn("name", "Name", ({ name }) => name),
  numberColumn("before", "α before", ({ before }) => before, alpha),
  numberColumn("after", "α after", ({ after }) => after, alpha),
  numberColumn("change", "Change", ({ change }) => change, alpha),
  { key: "clear", title: "Clear", show: ({ is_clear }) => (is_clear ? "✓" : ""), by: ({ is_clear }) => Number(is_clear) },
  numberColumn("images", "Images", ({ images }) => images, countText),
];

const SETTINGS: Column<Setting>[] = [
  nameColumn("name", "Setting", ({ name }) => name),
  nameColumn("before", "Before", ({ before }) => before),
  nameColumn("after", "After", ({ after }) => after),
];

function ComparePage({ of, act, choose }: { of: Comparison } & Acts & Chooses) {
  const { analysis, against, comparable, change, images, doubts, classes, raters, settings } = of;
  const by = withInterval(change.value, [change.low, change.high]);
  const why = change.low == null && change.reason ? ` (${change.reason})` : "";
  return (
    <Stack spacing={1}>
      <Finding>{`From ${plain(against)} to ${plain(analysis)} α changed by ${by}${why}`}</Finding>
      {doubts.map((doubt) => <Alert key={doubt} severity="warning" sx={{ py: 0 }}>{doubt}</Alert>)}
      <Stack direction="row" gap={1} flexWrap="wrap" alignItems="center">
        <Menu label="Before" chosen={against} entries={entriesOf(comparable)} onChoose={(key) => choose({ against: key })} />
        {(["improved", "worsened"] as const).map((which) => (
          <StepButton key={which} onClick={() => act("change", { which, against })}>{`${countText(images[which])} ${which}`}</StepButton>
        ))}
      </Stack>
      <Card title="By class">
        <Sortable label="By class" rows={classes} columns={DIFFERENCES} keyOf={({ name }) => name} />
      </Card>
      <Card title="By rater (their pairs with each other one)">
        <Sortable label="By rater" rows={raters} columns={DIFFERENCES} keyOf={({ name }) => name} />
      </Card>
      {settings.length > 0 && (
        <Card title="Different settings">
          <Sortable label="Settings" rows={settings} keyOf={({ name }) => name}
            columns={SETTINGS} />
        </Card>
      )}
    </Stack>
  );
}
