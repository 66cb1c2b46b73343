import React from "react";
import { plain } from "../format";
import { Box } from "../mui";

/** A name from data, shortened if it is long; the tooltip shows the full name. */
export function Name({ of }: { of: string }) {
  return (
    <Box component="bdi" title={plain(of, Infinity)} sx={{ overflow: "hidden", textOverflow: "ellipsis" }}>
      {plain(of)}
    </Box>
  );
}
