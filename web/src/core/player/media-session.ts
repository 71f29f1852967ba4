// The system's own controls: lock screen, headset, media keys.

export interface NowPlaying {
  title: string;
  artist: string;
}

export interface Handlers {
  play(): void;
  pause(): void;
  seekBy(ms: number): void;
  seek(ms: number): void;
  next?: (() => void) | undefined;
  previous?: (() => void) | undefined;
}

const STEP_MS = 10_000;

/** Announces what plays; returns the work that takes it back. */
export function announce({ title, artist }: NowPlaying, handlers: Handlers): () => void {
  const { mediaSession } = navigator;
  if (!mediaSession) return () => undefined;
  mediaSession.metadata = new MediaMetadata({ title, artist });
  const acts: [MediaSessionAction, MediaSessionActionHandler | null][] = [
    ['play', () => handlers.play()],
    ['pause', () => handlers.pause()],
    ['seekbackward', ({ seekOffset }) => handlers.seekBy(-(seekOffset ?? STEP_MS / 1000) * 1000)],
    ['seekforward', ({ seekOffset }) => handlers.seekBy((seekOffset ?? STEP_MS / 1000) * 1000)],
    ['seekto', ({ seekTime }) => handlers.seek((seekTime ?? 0) * 1000)],
    ['nexttrack', handlers.next ?? null],
    ['previoustrack', handlers.previous ?? null],
  ];
  const set = (action: MediaSessionAction, act: MediaSessionActionHandler | null): void => {
    try {
      mediaSession.setActionHandler(action, act);
    } catch {
      // a browser without this action
    }
  };
  for (const [action, act] of acts) set(action, act);
  return () => {
    for (const [action] of acts) set(action, null);
    mediaSession.metadata = null;
  };
}

/** Keeps the system's time line right. */
export function announcePosition(state: {
  positionMs: number;
  durationMs: number;
  rate: number;
  isPlaying: boolean;
}): void {
  const { mediaSession } = navigator;
  if (!mediaSession?.setPositionState || state.durationMs <= 0) return;
  const duration = state.durationMs / 1000;
  mediaSession.playbackState = state.isPlaying ? 'playing' : 'paused';
  mediaSession.setPositionState({
    duration,
    position: Math.min(duration, state.positionMs / 1000),
    playbackRate: state.rate,
  });
}
