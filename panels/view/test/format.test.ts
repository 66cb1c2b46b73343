import { describe, expect, it } from "vitest";
import { alphaText, countText, intervalText, numberOf, percentText, plain, pointsText, significantText, withInterval } from "../src/format";

const spaced = (text: string) => text.replace(/\u00a0/g, " ");

describe("numbers are shown as Python shows them", () => {
  it("has two decimals, or three, and a true minus sign", () => {
    expect([0.68888, -0.0154, -0.001, null, 1234.5].map((value) => alphaText(value))).toEqual(
      ["0.69", "−0.02", "0.00", "undefined", "1,234.50"],
    );
    expect(alphaText(0.68888, 3)).toBe("0.689");
  });
  it("rounds a tie to the even digit, and nothing else", () => {
    expect([0.125, 0.375, -0.125, 0.625, 0.875].map((value) => alphaText(value))).toEqual(
      ["0.12", "0.38", "−0.12", "0.62", "0.88"],
    );
    expect([1.005, 2.675, 0.145, 1.115].map((value) => alphaText(value))).toEqual(["1.00", "2.67", "0.14", "1.11"]);
    expect([0.0625, 0.1875].map((value) => alphaText(value, 3))).toEqual(["0.062", "0.188"]);
  });
  it("has three digits of what has no fixed scale", () => {
    expect([0.038, -1402.3, 100, 12.345, null].map((value) => significantText(value))).toEqual(["0.038", "−1,402", "100", "12.3", "undefined"]);
  });
  it("keeps an interval in one line, with the decimals that it needs", () => {
    expect(withInterval(0.689, [0.634, 0.746])).toBe("0.69\u00a0[0.63,\u00a00.75]");
    expect(spaced(withInterval(0.798, [0.786, 0.807]))).toBe("0.798 [0.786, 0.807]");
    expect(withInterval(0.689, [null, null])).toBe("0.69");
    expect(spaced(intervalText([-0.1, 0.746]))).toBe("[−0.10, 0.75]");
    expect(intervalText([null, 1])).toBe("");
  });
  it("has percentages of two digits, never 0 or 100 unless they are", () => {
    const shares = [0.0346, 0.123, 0.000506, 0.05, 0, 1, 0.999, 1e-7];
    expect(shares.map((share) => spaced(percentText(share)))).toEqual(
      ["3.5 %", "12 %", "0.051 %", "5 %", "0 %", "100 %", "> 99 %", "< 0.001 %"],
    );
  });
  it("counts", () => {
    expect([countText(1402), countText(-3), numberOf(1, "image"), numberOf(0, "class", "classes")]).toEqual(
      ["1,402", "−3", "1 image", "0 classes"],
    );
    expect(pointsText(0.66068)).toBe("66.1");
    expect([1234.5, -0.01234, 0, null].map((value) => significantText(value))).toEqual(["1,235", "−0.0123", "0", "undefined"]);
  });
});

describe("text from data", () => {
  it("is one line without direction marks, and cut", () => {
    expect([plain("<b>**x**"), plain("evil\u202egpj"), plain(" a\n b ")]).toEqual(["<b>**x**", "evilgpj", "a b"]);
    expect(plain("a class whose name is a sentence", 10)).toBe("a class w…");
  });
});
