export interface Choice {
  id: string;
  name: string;
  /** Quiet, at the end of the row. */
  note?: string;
}
