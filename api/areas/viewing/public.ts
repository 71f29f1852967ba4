export { refuseRemote, takePlace } from './admission.ts';
export { type LivePlay, LiveProgram, LiveSession, LiveSessionChannel } from './live.schemas.ts';
export {
  factsOf,
  findImplicit,
  findSession,
  insertSession,
  lockSession,
  payloadOf,
  playedUntil,
  type SessionDraft,
  type SessionRow,
  type StopReason,
  stopSession,
  touchBytes,
  updateSession,
} from './sessions.store.ts';
