// Jobs of the server that this person started from this tab, until each has ended.

export interface Followed {
  id: string;
  /** What the job does. */
  text: string;
  /** Shown when it has succeeded. */
  done: string;
  onend: () => void;
}

let followed = $state.raw<readonly Followed[]>([]);

export const tray = {
  get jobs(): readonly Followed[] {
    return followed;
  },
  follow(job: Followed): void {
    followed = [...followed.filter(({ id }) => id !== job.id), job];
  },
  drop(id: string): void {
    followed = followed.filter((one) => one.id !== id);
  },
};
