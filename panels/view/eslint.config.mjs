import js from "@eslint/js";
import a11y from "eslint-plugin-jsx-a11y";
import hooks from "eslint-plugin-react-hooks";
import ts from "typescript-eslint";

/** One module names what is taken from the App, and one what is taken from MUI: both change one day. */
const ONLY = (files, group, message) => ({
  files: ["src/**"],
  ignores: files,
  rules: { "no-restricted-imports": ["error", { patterns: [{ group, message }] }] },
});

export default ts.config(
  { ignores: ["dist", "node_modules"] },
  js.configs.recommended,
  ...ts.configs.strictTypeChecked.map((config) => ({ ...config, files: ["src/**", "test/**"] })),
  {
    files: ["src/**", "test/**"],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { "react-hooks": hooks, "jsx-a11y": a11y },
    rules: {
      ...hooks.configs.recommended.rules,
      ...a11y.configs.recommended.rules,
      "@typescript-eslint/no-confusing-void-expression": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "max-lines-per-function": ["warn", { max: 90, skipBlankLines: true, skipComments: true }],
    },
  },
  ONLY(["src/app.ts", "src/mui.ts"], ["@fiftyone/*", "@mui/*"], "Take it from app.ts or mui.ts."),
  { files: ["*.mjs"], languageOptions: { globals: { process: "readonly", URL: "readonly" } } },
);
