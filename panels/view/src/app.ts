/** All imports from the App, in one place because they are not part of its documented API. */
import { OperatorIO, types, useTriggerPanelEvent } from "@fiftyone/operators";
import type { Answered } from "@fiftyone/operators";
import { PluginComponentType, registerComponent } from "@fiftyone/plugins";
import { usePanelStatePartial } from "@fiftyone/spaces";
import { getSampleSrc } from "@fiftyone/state";
import type { FC } from "react";

export { getSampleSrc, OperatorIO, types, useTriggerPanelEvent, usePanelStatePartial };
export type { Answered };

/** Props of the component of a panel in Python: its data, and the addresses of its methods. */
export type PanelProps<Data> = { data?: Partial<Data>; schema: { view: Record<string, string> } };

export function register<Data>(name: string, label: string, component: FC<PanelProps<Data>>): void {
  registerComponent({ name, label, component, type: PluginComponentType.Component, activator: () => true });
}
