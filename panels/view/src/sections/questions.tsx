import React from "react";
import { alphaText, countText, numberOf, percentText, plain } from "../format";
import type { Maybe } from "../format";
import { Card } from "../look/card";
import { Heat } from "../look/heat";
import type { LibraryMatrix } from "../look/heat";
import { Menu } from "../look/menu";
import { Plot } from "../look/plot";
import type { LibraryFigure } from "../look/plot";
import { Ranked } from "../look/ranked";
import { Empty } from "../look/states";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Finding, Note, StepButton } from "../look/text";
import { nameColumn, numberColumn, titleOf, valueColumn } from "../look/value";
import type { Value } from "../look/value";
import { Wide } from "../look/wide";
import { Alert, Box, Stack } from "../mui";
import { entriesOf, Paged } from "./paged";
import type { Chooses, Shown } from "./paged";
import type { SectionProps } from "./section";

/** Sent by `panels/data/questions.py`; `spa` is the probability of agreement, doubtful if `spa_flat` is given. */
type Question = {
  name: string;
  kappa: Value;
  band: string;
  spa: Maybe;
  spa_flat: Maybe;
  fleiss: Maybe;
  ac1: Maybe;
  alpha: Maybe;
  cohen: Maybe;
  ties: number;
};
type Grades = { name: string; alpha: Value; ac: Value; kappa: Value; icc: Value };
type Direction = { rater: string; difference: Value; is_clear: boolean; text: string };
type Directions = { question: string; title: string; raters: Direction[] };
type Agreement = {
  title: string;
  over: string;
  warning: string;
  questions: Question[];
  doubt: string;
  grades: Grades[];
  directions: Directions[];
};
/** Shares of raters with the majority: over all decisions, and where at least one rater chose the concept. */
type Concept = { name: string; everywhere: Maybe; chosen: Maybe };
type Concepts = { title: string; concepts: Concept[] };
type Disputed = { sample_id: string; file: string; agreement: number; all_decisions: Maybe; chosen: Maybe; question: string; answers: string };
type Images = { disputed: number; images: Disputed[] };
type Raters = {
  accuracy: LibraryMatrix;
  compared: string[];
  rejection: string;
  question: string | null;
  questions: string[];
  cohen: LibraryMatrix | null;
};
/** Null if nothing is estimated yet. */
type Right = {
  text: string;
  warnings: string[];
  question: string;
  questions: string[];
  title: string;
  skills: { rater: string; skill: Value; answers: number }[];
  rater: string;
  raters: string[];
  confusion: LibraryMatrix | null;
};
type OverTime = { question: string | null; questions: string[]; figures: LibraryFigure[] };
type Sent =
  | Shown<"Agreement", Agreement>
  | Shown<"Concepts", Concepts>
  | Shown<"Images", Images>
  | Shown<"Raters", Raters>
  | Shown<"Who is right", Right | null>
  | Shown<"Over time", OverTime>;
type Acts = Pick<SectionProps<Sent>, "act">;

/** Agreement on image-level labels: by question, concept, image and rater. */
export function Questions(props: SectionProps<Sent>) {
  return (
    <Paged section="Questions" of={props}>
      {({ record, act, choose, frame }) => {
        const colours = frame.colours.raters;
        switch (record.page) {
          case "Agreement": return <AgreementPage of={record.shown} act={act} colours={colours} />;
          case "Concepts": return <ConceptsPage of={record.shown} act={act} />;
          case "Images": return <ImagesPage of={record.shown} act={act} />;
          case "Raters": return <RatersPage of={record.shown} act={act} choose={choose} />;
          case "Who is right": return <RightPage of={record.shown} act={act} choose={choose} />;
          case "Over time": return <OverTimePage of={record.shown} choose={choose} />;
        }
      }}
    </Paged>
  );
}

const alpha = (value: number) => alphaText(value);
const QUESTIONS: Column<Question>[] = [
  nameColumn("name", "Question", ({ name }) => name),
  {
    key: "spa",
    title: "Same answer",
    show: ({ spa, spa_flat }) => percentText(spa) + (spa_flat == null ? "" : ` (doubtful; equal weights ${percentText(spa_flat)})`),
    by: ({ spa }) => spa ?? null,
    isNumber: true,
  },
  valueColumn("kappa", "Beyond chance (κ)", ({ kappa }) => kappa),
  numberColumn("fleiss", "Fleiss' κ", ({ fleiss }) => fleiss, alpha),
  numberColumn("ac1", "AC1", ({ ac1 }) => ac1, alpha),
  { ...numberColumn<Question>("alpha", "α", (row) => row.alpha, alpha), hover: "Krippendorff's alpha, with the metric of the question" },
  numberColumn("cohen", "Cohen's κ", ({ cohen }) => cohen, alpha),
  numberColumn("ties", "Ties", ({ ties }) => ties, countText),
];

const GRADES: Column<Grades>[] = [
  nameColumn("name", "Question", ({ name }) => name),
  valueColumn("alpha", "α", (row) => row.alpha),
  valueColumn("ac", "AC2", (row) => row.ac),
  valueColumn("kappa", "Conger's κ", (row) => row.kappa),
  { ...valueColumn<Grades>("icc", "ICC", (row) => row.icc), hover: "ICC(2,1), or ICC(1,1) if some raters did not grade all images" },
];

function AgreementPage({ of, act, colours }: { of: Agreement; colours: Record<string, string> } & Acts) {
  const clicked = (name: string) => act("question", { name });
  const rows = of.questions.map(({ name, kappa, band }) => ({
    key: name, name, value: kappa.value, interval: [kappa.low, kappa.high] as const, text: alphaText(kappa.value), title: titleOf(kappa, band),
  }));
  return (
    <Stack spacing={1}>
      <Finding>{of.title}</Finding>
      <Note>{of.over}</Note>
      {of.warning && <Alert severity="warning" sx={{ py: 0 }}>{of.warning}</Alert>}
      <Stack direction="row"><StepButton onClick={() => act("again")}>New run</StepButton></Stack>
      <Card title="Agreement beyond chance, lowest first: click a question to see where answers differ">
        <Ranked rows={rows} domain={[Math.min(0, ...rows.flatMap(({ value, interval }) => [value ?? 0, interval[0] ?? 0])), 1]} onClick={clicked} />
      </Card>
      {of.directions.map((one) => <DirectionsOf key={one.question} of={one} colours={colours} />)}
      <Card title="Coefficients of each question">
        <Wide least={3} label="Questions" rows={of.questions} columns={QUESTIONS} keyOf={({ name }) => name} onClick={({ name }) => clicked(name)} />
        {of.doubt && <Note>{`${of.doubt}.`}</Note>}
      </Card>
      {of.grades.length > 0 && (
        <Card title="Grades: close grades count as nearly equal (AC2 and Conger's κ with quadratic weights)">
          <Wide least={4} label="Grades" rows={of.grades} columns={GRADES} keyOf={({ name }) => name} onClick={({ name }) => clicked(name)} />
        </Card>
      )}
    </Stack>
  );
}

/** Raters who grade lower (left of zero) or higher (right of zero) than the others. */
function DirectionsOf({ of: { question, title, raters }, colours }: { of: Directions; colours: Record<string, string> }) {
  const ends = raters.flatMap(({ difference: { value, low, high } }) => [value ?? 0, low ?? 0, high ?? 0].map(Math.abs));
  const most = Math.max(...ends, 1e-6);
  const rows = raters.map(({ rater, difference, is_clear, text }) => ({
    key: rater,
    name: rater,
    value: difference.value,
    interval: [difference.low, difference.high] as const,
    text: `${(difference.value ?? 0) > 0 ? "+" : ""}${alphaText(difference.value)}`,
    title: is_clear ? text : `${text}: not clearly`,
    colour: colours[rater],
  }));
  return (
    <Card title={title}>
      <Note>{`Mean grade of each rater minus that of the others, on the same images${question ? ` (${plain(question)})` : ""}`}</Note>
      <Ranked rows={rows} domain={[-most, most]} />
    </Card>
  );
}

function ConceptsPage({ of: { title, concepts }, act }: { of: Concepts } & Acts) {
  const rows = concepts.map(({ name, everywhere, chosen }) => ({
    key: name, name, value: chosen, text: percentText(chosen), title: `over all decisions: ${percentText(everywhere)}`,
  }));
  return (
    <Stack spacing={1}>
      <Finding>{title}</Finding>
      <Card title="Share of raters with the majority where a concept was chosen: click one to see where raters differ">
        <Ranked rows={rows} domain={[0, 1]} onClick={(name) => act("concept", { name })} />
      </Card>
    </Stack>
  );
}

const DISPUTED: Column<Disputed>[] = [
  nameColumn("file", "Image", ({ file }) => file),
  nameColumn("question", "Question", ({ question }) => question),
  nameColumn("answers", "Answers", ({ answers }) => answers),
  numberColumn("agreement", "Agreement", ({ agreement }) => agreement, (value) => alphaText(value, 3)),
  numberColumn("all", "With the majority", ({ all_decisions }) => all_decisions, percentText),
  numberColumn("chosen", "Where chosen", ({ chosen }) => chosen, percentText),
];

function ImagesPage({ of: { disputed, images }, act }: { of: Images } & Acts) {
  if (!images.length) return <Finding>No image is in dispute</Finding>;
  return (
    <Stack spacing={1}>
      <Stack direction="row" gap={1} alignItems="center">
        <Finding>{`${numberOf(disputed, "image")} in dispute`}</Finding>
        {disputed > 0 && <StepButton onClick={() => act("disputes")}>Show them in the grid</StepButton>}
      </Stack>
      <Card title="Images with the lowest agreement: click one to open it">
        <Sortable label="Images with the lowest agreement" rows={images} columns={DISPUTED} keyOf={(row) => row.sample_id}
          onClick={(row) => act("open", { sample: row.sample_id })} />
      </Card>
    </Stack>
  );
}

function RatersPage({ of, act, choose }: { of: Raters } & Acts & Chooses) {
  const { accuracy, compared, rejection, question, questions, cohen } = of;
  return (
    <Stack spacing={1}>
      <Heat of={accuracy} hint="Click a cell to see where the two answers differ."
        onClick={(row, column) => row !== column && act("difference", { one: compared[row], other: compared[column] })} />
      {rejection && <Note>{rejection}</Note>}
      <Menu label="Question" chosen={question ?? ""} entries={entriesOf(questions)} onChoose={(name) => choose({ question: name })} />
      {cohen && <Heat of={cohen} />}
    </Stack>
  );
}

const NOT_ESTIMATED =
  "Estimate the likeliest label of each image with a probability, and the share of right answers of each rater, without ground truth. " +
  "Raters who agree with reliable raters count more. Requires at least three independent raters per image.";

function RightPage({ of, act, choose }: { of: Right | null } & Acts & Chooses) {
  if (!of) return <Empty title="Who is right, and how sure?" text={NOT_ESTIMATED} steps={[{ label: "Estimate who is right", onClick: () => act("estimate") }]} />;
  const { text, warnings, question, questions, title, skills, rater, raters, confusion } = of;
  const rows = skills.map(({ rater: name, skill, answers }) => ({
    key: name, name, value: skill.value, interval: [skill.low, skill.high] as const, text: percentText(skill.value),
    title: titleOf(skill, numberOf(answers, "answer")),
  }));
  return (
    <Stack spacing={1}>
      <Finding>{title}</Finding>
      <Note>{text}</Note>
      {warnings.map((warning) => <Alert key={warning} severity="warning" sx={{ py: 0 }}>{warning}</Alert>)}
      <Stack direction="row" gap={1} flexWrap="wrap">
        <StepButton onClick={() => act("least_sure")}>Least sure images</StepButton>
        <Menu label="Question" chosen={question} entries={entriesOf(questions)} onChoose={(name) => choose({ question: name })} />
        <Menu label="Rater" chosen={rater} entries={[["", "All raters"], ...entriesOf(raters)]} onChoose={(name) => choose({ rater: name })} />
      </Stack>
      <Card title="Expected share of right answers: click a rater to see where they differ from the estimate">
        <Ranked rows={rows} domain={[0, 1]} onClick={(name) => act("difference", { one: name, other: "truth" })} />
      </Card>
      {confusion && <Box><Heat of={confusion} show={percentText} /></Box>}
    </Stack>
  );
}

function OverTimePage({ of: { question, questions, figures }, choose }: { of: OverTime } & Chooses) {
  if (question === null) return <Finding>No question has a running curve</Finding>;
  return (
    <Stack spacing={1}>
      <Menu label="Question" chosen={question} entries={entriesOf(questions)} onChoose={(name) => choose({ question: name })} />
      {figures.map((figure) => <Plot key={figure.reading} figure={figure} height={260} />)}
    </Stack>
  );
}
