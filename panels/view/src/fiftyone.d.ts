// Types of the App's globals that app.ts uses; FiftyOne does not publish types.
declare module "@fiftyone/operators" {
  import type { FC } from "react";
  export type Answered = { result?: unknown; error?: unknown; errorMessage?: string };
  export function useTriggerPanelEvent(): (
    address: string,
    params?: object,
    prompt?: boolean,
    done?: (answered: Answered) => unknown,
  ) => void;
  export const OperatorIO: FC<{
    schema: unknown;
    data: unknown;
    onChange: (state: object) => void;
    onPathChange?: (path: string, value: unknown, schema: { onChange?: string }, state: object) => void;
    layout: object;
  }>;
  export const types: {
    Object: new () => { defineProperty: (name: string, type: unknown, options: object) => void };
    List: new (of: unknown) => unknown;
    Property: { new (type: unknown): unknown; fromJSON: (schema: unknown) => unknown };
    PlotlyView: new (options: object) => unknown;
  };
}
declare module "@fiftyone/plugins" {
  import type { FC } from "react";
  export function registerComponent(registration: {
    name: string;
    label: string;
    component: unknown;
    type: number;
    activator: () => boolean;
  }): void;
  export const PluginComponentType: { Component: number };
}
declare module "@fiftyone/spaces" {
  export function usePanelStatePartial<T>(key: string, initial: T): [T, (next: (before: T) => T) => void];
}
declare module "@fiftyone/state" {
  export function getSampleSrc(path: string): string;
}
