export interface PlanTuner {
  id: string;
  slots: number;
}

/** A recording that wants a slot. Times are Unix ms. */
export interface Wanted {
  id: string;
  channelId: string;
  /** Of the programme. */
  startMs: number;
  endMs: number;
  startPadMs: number;
  endPadMs: number;
  /** 0 to 100; higher ones choose first. */
  priority: number;
  createdMs: number;
  /** Tuners that receive the channel, in the order of its sources. */
  tunerIds: readonly string[];
  /** The tuner on which it is recorded now. */
  pinned?: string | undefined;
}
