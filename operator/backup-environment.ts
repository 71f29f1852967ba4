// Backup settings as the processes receive them: schedule, destinations with their credentials, and passphrase. Pure.
import type { MediaServerSpec } from './schemas/media-server.ts';
import { type Secrets, secretValue } from './server-environment.ts';

type Backup = NonNullable<MediaServerSpec['backup']>;

/** FOYER_BACKUP; undefined when the resource declares no backups. */
export function declaredBackup({ backup }: Pick<MediaServerSpec, 'backup'>, secrets: Secrets): string | undefined {
  if (!backup) return undefined;
  const { schedule, keep, destination, copyTo, encryptionSecretRef: ref } = backup;
  return JSON.stringify({
    schedule,
    keep,
    destination: placeOf(destination, secrets),
    ...(copyTo && { copyTo: placeOf(copyTo, secrets) }),
    ...(ref && { passphrase: secretValue(secrets, ref) }),
  });
}

function placeOf({ s3 }: Backup['destination'], secrets: Secrets): object {
  const { secretRef, ...place } = s3;
  const { accessKey = '', secretKey = '' } = secrets.get(secretRef.name) ?? {};
  return { ...place, accessKeyId: accessKey, secretAccessKey: secretKey };
}
