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
