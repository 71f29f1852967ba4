// The phases of the player and the only ways between them.

export type Phase = 'idle' | 'deciding' | 'loading' | 'playing' | 'paused' | 'buffering' | 'ended' | 'failed';

/** What happened: requests of the person, the server's decision, and events of the media element. */
export type Step = 'open' | 'decided' | 'play' | 'pause' | 'wait' | 'end' | 'fail' | 'reload' | 'close';

const STEPS: Readonly<Record<Phase, Partial<Record<Step, Phase>>>> = {
  idle: { open: 'deciding' },
  deciding: { decided: 'loading', fail: 'failed', close: 'idle' },
  loading: { play: 'playing', pause: 'paused', fail: 'failed', reload: 'loading', end: 'ended', close: 'idle' },
  playing: { pause: 'paused', wait: 'buffering', end: 'ended', fail: 'failed', reload: 'loading', close: 'idle' },
  paused: { play: 'playing', wait: 'paused', end: 'ended', fail: 'failed', reload: 'loading', close: 'idle' },
  buffering: { play: 'playing', pause: 'paused', end: 'ended', fail: 'failed', reload: 'loading', close: 'idle' },
  ended: { play: 'playing', wait: 'buffering', pause: 'paused', reload: 'loading', open: 'deciding', close: 'idle' },
  failed: { open: 'deciding', reload: 'loading', close: 'idle' },
};

/** The phase after a step; a step that a phase does not know changes nothing. */
export const phaseAfter = (phase: Phase, step: Step): Phase => STEPS[phase][step] ?? phase;

/** True in phases in which the media element has a source that can be played. */
export const isOpen = (phase: Phase): boolean => ['playing', 'paused', 'buffering', 'ended'].includes(phase);
