// What the App would put on `window`, as far as a test without an App needs it.
export const getSampleSrc = (path: string) => `/media${path}`;
export const useTriggerPanelEvent = () => () => undefined;
export const usePanelStatePartial = <T>(_key: string, initial: T) => [initial, () => undefined] as const;
export const registerComponent = () => undefined;
export const PluginComponentType = { Component: 3 };
export const OperatorIO = () => null;
export const types = {};
