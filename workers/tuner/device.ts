import type { Log } from '#platform/log.ts';
import type { TunerConfig } from './config.ts';
import { type Channel, chosen, type Lineup } from './lineup.ts';
import type { Source } from './source.ts';

/** The status that the operator reads. */
export interface DeviceStatus {
  /** Undefined until the first response. */
  reachable?: boolean;
  /** The device's description, or the error. */
  message: string;
  tuners?: { total: number; inUse: number };
  channels?: number;
  encrypted?: number;
  device?: Lineup['device'];
  /** This version does not record. */
  recording: false;
}

const LOOK_MS = 15_000;
const FIRST_PAUSE_MS = 5000;
const MAX_PAUSE_MS = 5 * 60_000;

/** Keeps the lineup of one device current; the last one stays while the device is unavailable. */
export class TunerDevice {
  readonly #source: Source;
  readonly #config: TunerConfig;
  readonly #log: Log;
  #lineup: Lineup | undefined;
  #channels: Channel[] = [];
  #readAt = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #status: DeviceStatus = { message: 'The device was not polled yet', recording: false };

  constructor(source: Source, config: TunerConfig, log: Log) {
    this.#source = source;
    this.#config = config;
    this.#log = log;
  }

  get status(): DeviceStatus {
    return this.#status;
  }

  get channels(): readonly Channel[] {
    return this.#channels;
  }

  start(): void {
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    await this.look();
    if (this.#stopped) return;
    const pause = this.#failures ? Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), MAX_PAUSE_MS) : LOOK_MS;
    this.#timer = setTimeout(() => void this.#run(), pause);
  }

  /** One round: refreshes an old lineup, and reads how many tuners are in use. */
  async look(): Promise<void> {
    try {
      if (!this.#lineup || Date.now() - this.#readAt >= this.#config.refreshMs || this.#failures > 0)
        await this.#readLineup();
      const inUse = await this.#source.inUse();
      this.#reached(inUse ?? 0);
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  async #readLineup(): Promise<void> {
    this.#lineup = await this.#source.lineup();
    this.#channels = chosen(this.#lineup.channels, this.#config.spec.channels);
    this.#readAt = Date.now();
    this.#log.info({ channels: this.#channels.length, tuners: this.#lineup.tuners }, 'lineup read');
  }

  #reached(inUse: number): void {
    const { tuners = 0, encrypted = 0, device } = this.#lineup ?? {};
    this.#failures = 0;
    const left = encrypted > 0 ? `; ${encrypted} are encrypted and left out` : '';
    this.#status = {
      reachable: true,
      message: `${this.#channels.length} channels${left}`,
      tuners: { total: tuners, inUse: Math.min(inUse, tuners) },
      channels: this.#channels.length,
      encrypted,
      ...(device && { device }),
      recording: false,
    };
  }

  #failed(error: Error): void {
    this.#failures += 1;
    const message = wordsOf(error);
    if (this.#status.message !== message) this.#log.warn({ err: message }, 'device not reached');
    this.#status = { ...this.#status, reachable: false, message };
  }
}

/** Without the address, which may contain a credential. */
function wordsOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  if (error.name === 'ZodError') return 'the answer is not that of an HDHomeRun';
  if (error instanceof SyntaxError) return 'the answer is not JSON';
  return code ? `not reached: ${code}` : error.message;
}
