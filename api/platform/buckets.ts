/** Buckets of the deployment. */
export type Bucket =
  | 'foyer-artwork'
  | 'foyer-artwork-cache'
  | 'foyer-derived'
  | 'foyer-subtitles'
  | 'foyer-transcode'
  | 'foyer-live'
  | 'foyer-recordings'
  | 'foyer-downloads'
  | 'foyer-uploads'
  | 'foyer-faces'
  | 'foyer-games'
  | 'foyer-models'
  | 'foyer-spine'
  | 'foyer-support'
  | 'foyer-exports'
  | 'foyer-backups';

/** Buckets that this version uses. They are made when the schema is migrated. */
export const PREPARED: readonly Bucket[] = [
  'foyer-artwork',
  'foyer-artwork-cache',
  'foyer-derived',
  'foyer-subtitles',
  'foyer-transcode',
  'foyer-live',
  'foyer-recordings',
  'foyer-uploads',
  'foyer-backups',
  'foyer-models',
  'foyer-spine',
];

/** An admin who made the buckets of an earlier version by hand may have given no right to make these. */
export const MADE_LATER: ReadonlySet<Bucket> = new Set(['foyer-recordings', 'foyer-uploads']);
