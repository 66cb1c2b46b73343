import React from "react";
import { getSampleSrc } from "../app";

/** Points in pixels of the image. */
export type Ring = readonly (readonly [number, number])[];
export type Outline = { id: string; rater: string; rings: readonly Ring[]; points?: Ring; colour: string; dash: string };
export type Window = { x: number; y: number; width: number; height: number };

/** Dashes of raters, cyclic, so that outlines can be distinguished without colours. */
export const DASHES = ["", "8 4", "2 3", "10 3 2 3"] as const;

const LEAST_SIDE = 80;
const MARGIN = 1.7;

/** Return the part of an image around outlines, a square with a margin within the image; without outlines, the image. */
export function windowOf(rings: readonly Ring[], [width, height]: readonly [number, number]): Window {
  const points = rings.flat();
  if (!points.length) return { x: 0, y: 0, width, height };
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const side = Math.max(LEAST_SIDE, MARGIN * Math.max(right - left, bottom - top));
  const [wide, high] = [Math.min(side, width), Math.min(side, height)];
  const within = (middle: number, size: number, most: number) => Math.min(Math.max(0, middle - size / 2), most - size);
  return {
    x: within((left + right) / 2, wide, width),
    y: within((top + bottom) / 2, high, height),
    width: wide,
    height: high,
  };
}

type CropProps = {
  path: string;
  size: readonly [number, number];
  outlines: readonly Outline[];
  /** Accessible description. */
  label: string;
  /** Rater whose outline is highlighted. */
  only?: string | null;
  height?: string | number;
  /** Whether to show the whole image. */
  isWhole?: boolean;
};

/** Part of an image with the outline of each rater; the whole image without outlines. */
export function Crop({ path, size, outlines, label, only, height = "46vh", isWhole = false }: CropProps) {
  if (!outlines.length) {
    const contained = { width: "100%", height, objectFit: "contain", display: "block", borderRadius: 6, background: "#0003" } as const;
    return <img src={getSampleSrc(path)} alt={label} style={contained} />;
  }
  const rings = outlines.flatMap((outline) => [...outline.rings, outline.points ?? []]);
  const { x, y, width, height: high } = windowOf(isWhole ? [] : rings, size);
  return (
    <svg viewBox={`${x} ${y} ${width} ${high}`} role="img" aria-label={label}
      style={{ width: "100%", maxHeight: height, display: "block", borderRadius: 6, background: "#0003" }}>
      <image href={getSampleSrc(path)} width={size[0]} height={size[1]} preserveAspectRatio="none" />
      {outlines.map((outline) => (
        <OutlineOf key={outline.id} outline={outline} radius={width / 90} isPale={Boolean(only) && only !== outline.rater} />
      ))}
    </svg>
  );
}

function OutlineOf({ outline, radius, isPale }: { outline: Outline; radius: number; isPale: boolean }) {
  return (
    <g opacity={isPale ? 0.15 : 1}>
      {(outline.points ?? []).map(([x, y], number) => (
        <circle key={number} cx={x} cy={y} r={radius} fill={outline.colour} stroke="#000" vectorEffect="non-scaling-stroke" />
      ))}
      {outline.rings.map((ring, number) => (
        <polygon key={number} points={ring.map((point) => point.join(",")).join(" ")} fill={outline.colour}
          fillOpacity={0.05} stroke={outline.colour} strokeWidth={2.5} strokeDasharray={outline.dash}
          vectorEffect="non-scaling-stroke" />
      ))}
    </g>
  );
}

/** Prefetch images that are shown soon. */
export function fetchAhead(paths: readonly string[]): void {
  for (const path of paths) new Image().src = getSampleSrc(path);
}
