import React from "react";
import { plain } from "../format";
import { Box } from "../mui";

/** A name from data: as text, cut where it is long, the whole in its hover. */
export function Name({ of }: { of: string }) {
  return (
    <Box component="bdi" title={plain(of, Infinity)} sx={{ overflow: "hidden", textOverflow: "ellipsis" }}>
      {plain(of)}
    </Box>
  );
}
