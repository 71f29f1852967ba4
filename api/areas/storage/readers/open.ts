import type { Config } from '#platform/config.ts';
import type { KindId, Secrets, Settings } from '../kinds/kinds.ts';
import { MountSettings, S3Settings, SftpSettings, WebdavSettings } from '../kinds/settings.ts';
import type { Reach } from './addresses.ts';
import { guarded } from './guarded.ts';
import { mountReader } from './mount.ts';
import type { StorageReader } from './reader.ts';
import { s3Reader } from './s3.ts';
import { sftpReader } from './sftp.ts';
import { webdavReader } from './webdav.ts';

/** A place as settings describe it, saved or not. */
export interface Place {
  kind: KindId;
  settings: Settings;
  secrets: Secrets;
  /** A member connected it, so only public addresses and these hosts are reached. */
  personal?: Reach['personal'];
}

export interface OpenDeps {
  config: Pick<Config, 'mediaRoots' | 'clusterNetworks' | 'apiServerNetworks' | 'storageNetworks'>;
  /** For tests. */
  lookup?: Reach['lookup'];
}

/** Opens a place without connecting to it. Throws `StorageFault` for an address that is not reached or a missing media root. */
export function openReader({ config, lookup }: OpenDeps, { kind, settings, secrets, personal }: Place): StorageReader {
  const reach: Reach = { config, personal, ...(lookup && { lookup }) };
  if (kind === 'mount') return mountReader(config, MountSettings.parse(settings));
  if (kind === 's3') return guarded(s3Reader(reach, S3Settings.parse(settings), secrets));
  if (kind === 'webdav') return guarded(webdavReader(reach, WebdavSettings.parse(settings), secrets));
  return guarded(sftpReader(reach, SftpSettings.parse(settings), secrets));
}
