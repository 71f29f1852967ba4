export { refuseRemote, takePlace } from './admission.ts';
export { type LivePlay, LiveSession } from './live.schemas.ts';
export {
  GuideProgram,
  LiveChannel,
  LiveProgram,
  LiveSource,
  LiveTest,
  ProgramKind,
  programKinds,
  RecordingState,
} from './live-records.schemas.ts';
export {
  factsOf,
  findImplicit,
  findSession,
  insertSession,
  isBroadcast,
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
