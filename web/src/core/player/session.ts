// The playback session at the server: opened, changed without losing the second, and opened again after it was lost.
import type {
  ChangePlaybackBody,
  FoyerClient,
  PlaybackSession,
  PlaybackStart,
  StartPlaybackBody,
} from '../../../../api/client/index.ts';
import { problemOf } from '../api/errors.ts';
import type { Outbox } from './outbox.ts';
import { clientProfile, type Probe, refuseCodec } from './profile.ts';

export interface SessionHome {
  api: FoyerClient;
  probe: Probe;
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  outbox: Outbox;
}

type Reason = NonNullable<PlaybackSession['stopReason']>;
/** Ends that somebody or a rule wanted; another session would be refused or unwelcome. */
const FINAL: readonly Reason[] = ['ended-by-admin', 'viewing-hours', 'age-limit', 'limit', 'replaced'];

export class Ended extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(`the session has ended: ${reason}`);
    this.reason = reason;
  }
}

export interface Reopening {
  positionMs: number;
  subtitleStreamId: string | null;
  quality: string | undefined;
}

export class Sessions {
  readonly #home: SessionHome;

  constructor(home: SessionHome) {
    this.#home = home;
  }

  /** Opens a session where the newest known position is, unless the body names one. */
  async open(itemId: string, body: StartPlaybackBody = {}): Promise<PlaybackStart> {
    const { api, outbox, probe, storage } = this.#home;
    const profile = clientProfile(probe, storage);
    if (body.startMs === undefined) await this.#sendWaiting(outbox);
    return api.startPlayback({ params: { id: itemId }, body: { client: await profile, ...body } });
  }

  change(id: string, body: ChangePlaybackBody): Promise<PlaybackStart> {
    return this.#home.api.changePlayback({ params: { id }, body: { remember: true, ...body } });
  }

  /** Decides again without a codec that this browser failed to decode. */
  async withoutCodec(id: string, codec: string, positionMs: number): Promise<PlaybackStart> {
    const client = await refuseCodec(this.#home.probe, this.#home.storage, codec);
    return this.change(id, { client, positionMs, remember: false });
  }

  /** A session in place of one that the server no longer has, with its tracks and quality. Throws Ended. */
  async reopen(lost: PlaybackStart, { positionMs, subtitleStreamId, quality }: Reopening): Promise<PlaybackStart> {
    const { session } = lost;
    const current = await this.#look(session.id);
    const reason = current?.state === 'stopped' ? current.stopReason : undefined;
    if (reason && FINAL.includes(reason)) throw new Ended(reason);
    const { audio } = session.decision;
    return this.open(session.itemId, {
      startMs: Math.round(positionMs),
      fileId: session.mediaFileId,
      ...(audio && { audioStreamId: audio.streamId }),
      subtitleStreamId,
      ...(quality !== undefined && { quality }),
      ...(current && { replaces: session.id }),
    });
  }

  /** The session as the server has it; undefined when it has none. */
  async #look(id: string): Promise<PlaybackSession | undefined> {
    try {
      return await this.#home.api.getPlaybackSession({ params: { id } });
    } catch (error) {
      if (problemOf(error).status === 404) return undefined;
      throw error;
    }
  }

  /** Positions that an earlier page could not send decide where this one begins. */
  async #sendWaiting(outbox: Outbox): Promise<void> {
    if (outbox.isEmpty) return;
    const { api } = this.#home;
    const { profile } = await api.getMe();
    await outbox.flush(profile.id, (body) => api.syncPlayback({ body })).catch(() => undefined);
  }
}
