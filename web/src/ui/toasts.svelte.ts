// Results of actions, one at a time, lower left, 6 s.

export interface Toast {
  text: string;
  /** Such as Undo. */
  action?: { label: string; run: () => void };
}

const SHOWN_MS = 6000;

let current = $state<Toast>();
let timer: ReturnType<typeof setTimeout> | undefined;

export const toast = {
  get current(): Toast | undefined {
    return current;
  },
  show(next: Toast): void {
    clearTimeout(timer);
    current = next;
    timer = setTimeout(toast.hide, SHOWN_MS);
  },
  hide(): void {
    clearTimeout(timer);
    current = undefined;
  },
};
