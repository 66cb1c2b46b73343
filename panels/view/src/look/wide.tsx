import React, { useState } from "react";
import type { ComponentProps } from "react";
import { Box, Button } from "../mui";
import { FOCUS } from "./styles";
import { Sortable } from "./table";

type WideProps<Row> = ComponentProps<typeof Sortable<Row>> & {
  /** Number of columns that are shown at first. */
  least: number;
};

/** Table for narrow panels, which hides further columns behind a button. */
export function Wide<Row>({ least, columns, ...more }: WideProps<Row>) {
  const [shows, setShows] = useState(false);
  if (columns.length <= least) return <Sortable columns={columns} {...more} />;
  return (
    <Box sx={{ overflowX: "auto" }}>
      <Sortable columns={shows ? columns : columns.slice(0, least)} {...more} />
      <Button size="small" aria-expanded={shows} onClick={() => setShows(!shows)} sx={{ ...FOCUS, textTransform: "none" }}>
        {shows ? "Fewer columns" : "More columns"}
      </Button>
    </Box>
  );
}
