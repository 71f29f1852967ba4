export const kindIds = ['mount', 's3', 'webdav', 'sftp'] as const;
export type KindId = (typeof kindIds)[number];
