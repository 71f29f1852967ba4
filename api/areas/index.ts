import type { Area } from '#kernel/endpoint.ts';
import { apiKeysArea } from './api-keys/index.ts';
import { artworkArea } from './artwork/index.ts';
import { authArea } from './auth/index.ts';
import { backupArea } from './backup/index.ts';
import { brandingArea } from './branding/index.ts';
import { collectionsArea } from './collections/index.ts';
import { customFieldsArea } from './custom-fields/index.ts';
import { discoverArea } from './discover/index.ts';
import { editingArea } from './editing/index.ts';
import { emailArea } from './email/index.ts';
import { eventsArea } from './events/index.ts';
import { homeArea } from './home/index.ts';
import { iconsArea } from './icons/index.ts';
import { itemsArea } from './items/index.ts';
import { jobsArea } from './jobs/index.ts';
import { labelsArea } from './labels/index.ts';
import { librariesArea } from './libraries/index.ts';
import { libraryTypesArea } from './library-types/index.ts';
import { liveTvArea } from './live-tv/index.ts';
import { maintenanceArea } from './maintenance/index.ts';
import { notificationsArea } from './notifications/index.ts';
import { peopleArea } from './people/index.ts';
import { playbackArea } from './playback/index.ts';
import { plusArea } from './plus/index.ts';
import { savedFiltersArea } from './saved-filters/index.ts';
import { scanningArea } from './scanning/index.ts';
import { searchArea } from './search/index.ts';
import { serverArea } from './server/index.ts';
import { serverAccountArea } from './server-account/index.ts';
import { settingsArea } from './settings/index.ts';
import { setupArea } from './setup/index.ts';
import { spineArea } from './spine/index.ts';
import { statsArea } from './stats/index.ts';
import { storageArea } from './storage/index.ts';
import { streamingArea } from './streaming/index.ts';
import { studiosArea } from './studios/index.ts';
import { subtitlesArea } from './subtitles/index.ts';
import { themesArea } from './themes/index.ts';
import { uploadsArea } from './uploads/index.ts';
import { usersArea } from './users/index.ts';
import { webhooksArea } from './webhooks/index.ts';

/** All areas that are served, in the order of the specification. */
export const areas = [
  serverArea,
  setupArea,
  authArea,
  apiKeysArea,
  usersArea,
  librariesArea,
  libraryTypesArea,
  customFieldsArea,
  storageArea,
  scanningArea,
  itemsArea,
  editingArea,
  artworkArea,
  peopleArea,
  studiosArea,
  spineArea,
  labelsArea,
  savedFiltersArea,
  playbackArea,
  streamingArea,
  subtitlesArea,
  collectionsArea,
  searchArea,
  discoverArea,
  liveTvArea,
  serverAccountArea,
  plusArea,
  settingsArea,
  brandingArea,
  uploadsArea,
  iconsArea,
  homeArea,
  notificationsArea,
  emailArea,
  eventsArea,
  webhooksArea,
  themesArea,
  maintenanceArea,
  jobsArea,
  statsArea,
  backupArea,
] as const satisfies readonly Area[];
