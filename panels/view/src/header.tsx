import React from "react";
import { plain } from "./format";
import { Segmented } from "./look/segmented";
import { FOCUS } from "./look/styles";
import { Box, Button, FormControlLabel, IconButton, MenuItem, Select, Switch, Tab, Tabs, Typography } from "./mui";
import { WHOLE } from "./records";
import type { Filter, Frame, Grid, Listed, Part } from "./records";

const ALL: Record<Part, string> = { category: "all classes", rater: "all raters", tag: "all tags" };
const NAMES: Record<Part, string> = { category: "Class", rater: "Rater", tag: "Tag" };

type MenuProps = {
  label: string;
  chosen: string;
  entries: readonly (readonly [string, string])[];
  onChoose: (key: string) => void;
  /** Short text of the closed menu. */
  short?: string;
  /** Fixed width, so that neighbours do not move. */
  width?: number;
};

function Menu({ label, chosen, entries, onChoose, short, width = 86 }: MenuProps) {
  const textOf = new Map(entries);
  return (
    <Select size="small" value={chosen} onChange={(event) => onChoose(event.target.value)} displayEmpty
      inputProps={{ "aria-label": label }}
      SelectDisplayProps={{ "aria-label": label, title: plain(textOf.get(chosen) ?? "", Infinity) }}
      renderValue={(key) => short ?? plain(textOf.get(key) ?? key)}
      sx={{ ...FOCUS, fontSize: 13, height: 28, width, "& .MuiSelect-select.MuiSelect-select": { py: 0.25, pl: 0.75, pr: 2.75 },
        "& .MuiSelect-icon": { right: 2 } }}>
      {entries.map(([key, text]) => (
        <MenuItem key={key} value={key} dense title={plain(text, Infinity)}>{plain(text)}</MenuItem>
      ))}
    </Select>
  );
}

type FilterProps = { frame: Frame; section: Listed | undefined; filter: Filter; onFilter: (next: Filter) => void };

/** Filter for all sections; parts that do not apply to the section are grey. */
function FilterBar({ frame, section, filter, onFilter }: FilterProps) {
  const follows = section?.follows ?? [];
  const parts = (Object.keys(ALL) as Part[]).filter((part) => (frame.choices[part] ?? []).length > 1 || filter[part] !== null);
  const isWhole = JSON.stringify(filter) === JSON.stringify(WHOLE);
  return (
    <>
      {parts.map((part) => (
        <Box key={part} sx={{ minWidth: 0, opacity: follows.includes(part) ? 1 : 0.45 }}
          title={follows.includes(part) ? undefined : "This filter does not apply to this section"}>
          <Menu label={NAMES[part]} chosen={filter[part] === null ? "" : `=${filter[part]}`}
            entries={[["", ALL[part]], ...(frame.choices[part] ?? []).map((name) => [`=${name}`, name] as const)]}
            onChoose={(key) => onFilter({ ...filter, [part]: key ? key.slice(1) : null })} />
        </Box>
      ))}
      <FormControlLabel label="Follow" title="Use only the images of the view in the grid" sx={{ m: 0, whiteSpace: "nowrap", opacity: follows.includes("view") ? 1 : 0.45, "& .MuiFormControlLabel-label": { fontSize: 13 } }}
        control={<Switch size="small" inputProps={{ "aria-label": "Follow view" }} checked={filter.follow} onChange={(_, follow) => onFilter({ ...filter, follow })} />} />
      <IconButton size="small" disabled={isWhole} aria-label="Clear the filter" title="Clear the filter"
        onClick={() => onFilter(WHOLE)} sx={{ ...FOCUS, fontSize: 13, width: 22, p: 0 }}>
        ✕
      </IconButton>
    </>
  );
}

type GridProps = { grid: Grid | null; steps: number; onBack: () => void };

/** What a click showed in the grid, and the way back, in a fixed place. */
function InGrid({ grid, steps, onBack }: GridProps) {
  return (
    <Box sx={{ display: "flex", alignItems: "center", gap: 0.75, minWidth: 0, flex: 1, justifyContent: "flex-end" }}>
      {grid && (
        <Typography data-cy="in-grid" noWrap color="text.secondary" title={plain(grid.text, Infinity)} sx={{ fontSize: 12 }}>
          In the grid: {plain(grid.text, 200)}
        </Typography>
      )}
      <Button size="small" variant="outlined" disabled={!steps} onClick={onBack} sx={{ ...FOCUS, py: 0, flexShrink: 0 }}>Back</Button>
    </Box>
  );
}

type HeaderProps = FilterProps &
  GridProps & {
    onAnalysis: (key: string) => void;
    onSection: (name: string) => void;
    /** Called when the pointer is on the name of a section. */
    onNear: (name: string) => void;
  };

/** Header with the analysis, the filter, the sections by group, and the way back. */
export function Header(props: HeaderProps) {
  const { frame, section, onAnalysis, onSection, onNear } = props;
  const groups = [...new Set(frame.sections.map(({ group }) => group))];
  const inGroup = frame.sections.filter(({ group }) => group === section?.group);
  const firstOf = (group: string) => frame.sections.find((one) => one.group === group)?.name ?? "";
  return (
    <Box component="header" sx={{ px: 1.5, pt: 0.75 }}>
      <Box sx={{ display: "flex", alignItems: "center", flexWrap: "wrap", columnGap: 0.5 }}>
        <Menu label="Analysis" chosen={frame.analysis ?? ""} entries={frame.analyses} onChoose={onAnalysis}
          short={frame.analysis ?? undefined} width={68} />
        <FilterBar {...props} />
      </Box>
      <Tabs value={section?.group ?? false} aria-label="Sections" selectionFollowsFocus sx={{ minHeight: 34 }}
        onChange={(_, group: string) => onSection(firstOf(group))}>
        {groups.map((group) => (
          <Tab key={group} value={group} label={group} onPointerEnter={() => onNear(firstOf(group))} sx={{ ...FOCUS, minHeight: 34, py: 0, px: 1.25, minWidth: 0, textTransform: "none", "&.Mui-selected": { color: "text.primary" } }} />
        ))}
      </Tabs>
      <Box sx={{ display: "flex", alignItems: "center", gap: 1, minHeight: 34 }}>
        {inGroup.length > 1 && section && (
          <Segmented label={section.group} chosen={section.name} onChoose={onSection} onNear={onNear}
            choices={inGroup.map(({ name, title }) => [name, title] as const)} />
        )}
        <InGrid {...props} />
      </Box>
    </Box>
  );
}
