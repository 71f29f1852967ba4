// The backup before an upgrade, where the server's settings require one, and how a resource skips it.
/** Its value is the target version of the upgrade, so that it does not apply to a later upgrade. */
export const WITHOUT_BACKUP = 'foyer.media/upgrade-without-backup';

/** What to do about a failed backup in a cluster. The previous version keeps serving. */
export const howToGoOn = (version: string): string =>
  `fix the cause; or disable beforeUpgrade in the backup settings; or, to upgrade without a backup, set the annotation ${WITHOUT_BACKUP} to ${version}`;

/**
 * The same on one machine, where no version serves meanwhile. `server` names the resource that carries the annotation, and
 * its file.
 */
export const howToGoOnHere = (version: string, server: string): string =>
  `fix the cause: it is retried after 5 minutes, and at each start; or, to upgrade without a backup, set the annotation ${WITHOUT_BACKUP}: ${version} of ${server}; or start the previous version again, which still works`;
