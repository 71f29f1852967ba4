import type { Knex } from 'knex';
import * as accounts from './20261121100000_accounts_create.ts';
import * as libraries from './20261121100100_libraries_create.ts';
import * as items from './20261121100200_items_create.ts';
import * as jobs from './20261121100300_jobs_create.ts';
import * as scanning from './20261121100400_scanning_create.ts';
import * as trash from './20261121100500_libraries_trash.ts';
import * as itemsOrder from './20261121100600_items_order.ts';
import * as viewing from './20261121100600_viewing_create.ts';
import * as streaming from './20261121150000_streaming_sessions.ts';
import * as scanningWalk from './20261121160000_scanning_walk.ts';
import * as folderCounts from './20261121170000_libraries_folder_counts.ts';
import * as scanningContent from './20261121170000_scanning_content.ts';
import * as resets from './20261121180000_auth_resets.ts';
import * as keyUses from './20261121190000_api_keys_uses.ts';
import * as jobAttempts from './20261121190100_jobs_attempts.ts';
import * as eventRights from './20261121190200_events_rights.ts';
import * as invites from './20261121190300_users_invites.ts';
import * as settingsHistory from './20261121190500_settings_history.ts';
import * as authFactors from './20261121190600_auth_factors.ts';
import * as authQuickConnect from './20261121190610_auth_quick_connect.ts';
import * as branding from './20261121220100_branding_create.ts';
import * as artwork from './20261121220110_artwork_images.ts';
import * as webhooks from './20261121220200_webhooks_create.ts';
import * as notifications from './20261121220210_notifications_create.ts';
import * as itemsTitles from './20261121220300_items_titles.ts';
import * as email from './20261121220400_email_create.ts';
import * as labels from './20261121220500_labels_create.ts';
import * as authOidc from './20261121220600_auth_oidc.ts';
import * as ownershipOffers from './20261121220610_server_account_offers.ts';
import * as plusCreate from './20261121220620_plus_create.ts';
import * as rightsTold from './20261122043000_events_rights_told.ts';
import * as hoursZone from './20261122053300_users_hours_zone.ts';
import * as viewingWishes from './20261122054500_viewing_wishes.ts';
import * as settingsDeclared from './20261122073000_settings_declared.ts';
import * as setupChecked from './20261122073100_setup_checked.ts';
import * as scanningStorages from './20261122080000_scanning_storages.ts';
import * as sealedLost from './20261122103000_settings_sealed_lost.ts';
import * as jobsUnits from './20261122103100_jobs_units.ts';
import * as viewingItemsGone from './20261122110000_viewing_items_gone.ts';
import * as backupCreate from './20261122150000_backup_create.ts';
import * as restoreCreate from './20261122151000_restore_create.ts';
import * as itemsAgeYears from './20261122160000_items_age_years.ts';
import * as viewingReadAt from './20261122170000_viewing_read_at.ts';
import * as jobsCancelTold from './20261122171000_jobs_cancel_told.ts';
import * as authResetsSent from './20261122172000_auth_resets_sent.ts';
import * as jobsLists from './20261122173000_jobs_lists.ts';
import * as serverVersion from './20261122180000_server_version.ts';
import * as themes from './20261122190000_themes_create.ts';
import * as librariesFolderAway from './20261123080000_libraries_folder_away.ts';
import * as itemsBelow from './20261123081000_items_below.ts';
import * as scanningDrafts from './20261123100000_scanning_drafts.ts';
import * as artworkChoices from './20261123110000_artwork_choices.ts';
import * as itemLayers from './20261124000000_item_layers_create.ts';
import * as librariesCatalogues from './20261124010000_libraries_catalogues.ts';
import * as editingMatches from './20261124010100_editing_matches.ts';
import * as people from './20261124020000_people_create.ts';
import * as peopleIndexes from './20261124020005_people_indexes.ts';
import * as peopleCounts from './20261124020010_people_counts.ts';
import * as libraryTypes from './20261124030000_library_types_create.ts';
import * as customFields from './20261124030100_custom_fields_create.ts';
import * as librariesAnalyses from './20261124040000_libraries_analyses.ts';
import * as librariesFingerprints from './20261124041000_libraries_fingerprints.ts';
import * as librariesPinned from './20261125010000_libraries_pinned.ts';
import * as librariesTrashedFiles from './20261125010100_libraries_trashed_files.ts';
import * as librariesSavedFiles from './20261125020000_libraries_saved_files.ts';
import * as spineCreate from './20261125040000_spine_create.ts';
import * as subtitlesCreate from './20261126000000_subtitles_create.ts';
import * as librariesVoice from './20261126000100_libraries_voice.ts';
import * as subtitlesSpeech from './20261126001000_subtitles_speech.ts';
import * as subtitlesFind from './20261126003000_subtitles_find.ts';
import * as homeCreate from './20261126004000_home_create.ts';
import * as searchCreate from './20261127001000_search_create.ts';
import * as searchTranscripts from './20261127001100_search_transcripts.ts';
import * as collectionsCreate from './20261127002000_collections_create.ts';
import * as savedFiltersCreate from './20261127002100_saved_filters_create.ts';
import * as storageProviders from './20261127003000_storage_providers.ts';
import * as iconsCreate from './20261127004000_icons_create.ts';
import * as statsCreate from './20261127004100_stats_create.ts';
import * as viewingPlayed from './20261127004110_viewing_played.ts';
import * as maintenanceCreate from './20261127004200_maintenance_create.ts';
import * as uploadsCreate from './20261127006000_uploads_create.ts';
import * as liveCreate from './20261127100000_live_create.ts';
import * as liveGuide from './20261127101000_live_guide.ts';
import * as liveStreams from './20261127102000_live_streams.ts';
import * as liveRenditions from './20261127102100_live_renditions.ts';
import * as recordingsCreate from './20261127103000_recordings_create.ts';
import * as discoverCreate from './20261127110000_discover_create.ts';
import * as recordingsExpired from './20261128100000_recordings_expired.ts';
import * as liveCaptions from './20261128150000_live_captions.ts';
import * as bulkChanges from './20261128200000_bulk_changes.ts';
import * as maintenancePending from './20261128201000_maintenance_pending.ts';
import * as savedFilesItems from './20261128300000_saved_files_items.ts';
import * as uploadsPlacing from './20261128301000_uploads_placing.ts';
import * as guideWords from './20261128310000_guide_words.ts';
import * as storageRelay from './20261128320000_storage_relay.ts';
import * as uploadsWriting from './20261128330000_uploads_writing.ts';
import * as searchBatches from './20261128340000_search_batches.ts';
import * as creditedSingle from './20261129000000_credited_single.ts';
import * as searchJoined from './20261129001000_search_joined.ts';
import * as guideContents from './20261129100000_guide_contents.ts';
import * as uploadsPlaced from './20261129110000_uploads_placed.ts';

export interface Migration {
  /** Runs before `up`, outside of a transaction, and again after an interruption: indexes of tables that are in use. */
  before?: (db: Knex) => Promise<void>;
  /** Runs in a transaction. */
  up(db: Knex): Promise<void>;
}

/**
 * `expand` adds what this build needs and takes nothing from the build before, whose pods still run. `contract` takes away what
 * this build no longer uses; it runs after the roll-out, so that no expand migration may build on one of the same build.
 */
export type Phase = 'expand' | 'contract';

/** By the end of the name: `…_libraries_drop_path_contract`. */
export const phaseOf = (name: string): Phase => (name.endsWith('_contract') ? 'contract' : 'expand');

/** In the order they run. Append-only: a migration that was released is never changed. */
export const migrations: Record<string, Migration> = {
  '20261121100000_accounts_create': accounts,
  '20261121100100_libraries_create': libraries,
  '20261121100200_items_create': items,
  '20261121100300_jobs_create': jobs,
  '20261121100400_scanning_create': scanning,
  '20261121100500_libraries_trash': trash,
  '20261121100600_items_order': itemsOrder,
  '20261121100600_viewing_create': viewing,
  '20261121150000_streaming_sessions': streaming,
  '20261121160000_scanning_walk': scanningWalk,
  '20261121170000_libraries_folder_counts': folderCounts,
  '20261121170000_scanning_content': scanningContent,
  '20261121180000_auth_resets': resets,
  '20261121190000_api_keys_uses': keyUses,
  '20261121190100_jobs_attempts': jobAttempts,
  '20261121190200_events_rights': eventRights,
  '20261121190300_users_invites': invites,
  '20261121190500_settings_history': settingsHistory,
  '20261121190600_auth_factors': authFactors,
  '20261121190610_auth_quick_connect': authQuickConnect,
  '20261121220100_branding_create': branding,
  '20261121220110_artwork_images': artwork,
  '20261121220200_webhooks_create': webhooks,
  '20261121220210_notifications_create': notifications,
  '20261121220300_items_titles': itemsTitles,
  '20261121220400_email_create': email,
  '20261121220500_labels_create': labels,
  '20261121220600_auth_oidc': authOidc,
  '20261121220610_server_account_offers': ownershipOffers,
  '20261121220620_plus_create': plusCreate,
  '20261122043000_events_rights_told': rightsTold,
  '20261122053300_users_hours_zone': hoursZone,
  '20261122054500_viewing_wishes': viewingWishes,
  '20261122073000_settings_declared': settingsDeclared,
  '20261122073100_setup_checked': setupChecked,
  '20261122080000_scanning_storages': scanningStorages,
  '20261122103000_settings_sealed_lost': sealedLost,
  '20261122103100_jobs_units': jobsUnits,
  '20261122110000_viewing_items_gone': viewingItemsGone,
  '20261122150000_backup_create': backupCreate,
  '20261122151000_restore_create': restoreCreate,
  '20261122160000_items_age_years': itemsAgeYears,
  '20261122170000_viewing_read_at': viewingReadAt,
  '20261122171000_jobs_cancel_told': jobsCancelTold,
  '20261122172000_auth_resets_sent': authResetsSent,
  '20261122173000_jobs_lists': jobsLists,
  '20261122180000_server_version': serverVersion,
  '20261122190000_themes_create': themes,
  '20261123080000_libraries_folder_away': librariesFolderAway,
  '20261123081000_items_below': itemsBelow,
  '20261123100000_scanning_drafts': scanningDrafts,
  '20261123110000_artwork_choices': artworkChoices,
  '20261124000000_item_layers_create': itemLayers,
  '20261124010000_libraries_catalogues': librariesCatalogues,
  '20261124010100_editing_matches': editingMatches,
  '20261124020000_people_create': people,
  '20261124020005_people_indexes': peopleIndexes,
  '20261124020010_people_counts': peopleCounts,
  '20261124030000_library_types_create': libraryTypes,
  '20261124030100_custom_fields_create': customFields,
  '20261124040000_libraries_analyses': librariesAnalyses,
  '20261124041000_libraries_fingerprints': librariesFingerprints,
  '20261125010000_libraries_pinned': librariesPinned,
  '20261125010100_libraries_trashed_files': librariesTrashedFiles,
  '20261125020000_libraries_saved_files': librariesSavedFiles,
  '20261125040000_spine_create': spineCreate,
  '20261126000000_subtitles_create': subtitlesCreate,
  '20261126000100_libraries_voice': librariesVoice,
  '20261126001000_subtitles_speech': subtitlesSpeech,
  '20261126003000_subtitles_find': subtitlesFind,
  '20261126004000_home_create': homeCreate,
  '20261127001000_search_create': searchCreate,
  '20261127001100_search_transcripts': searchTranscripts,
  '20261127002000_collections_create': collectionsCreate,
  '20261127002100_saved_filters_create': savedFiltersCreate,
  '20261127003000_storage_providers': storageProviders,
  '20261127004000_icons_create': iconsCreate,
  '20261127004100_stats_create': statsCreate,
  '20261127004110_viewing_played': viewingPlayed,
  '20261127004200_maintenance_create': maintenanceCreate,
  '20261127006000_uploads_create': uploadsCreate,
  '20261127100000_live_create': liveCreate,
  '20261127101000_live_guide': liveGuide,
  '20261127102000_live_streams': liveStreams,
  '20261127102100_live_renditions': liveRenditions,
  '20261127103000_recordings_create': recordingsCreate,
  '20261127110000_discover_create': discoverCreate,
  '20261128100000_recordings_expired': recordingsExpired,
  '20261128150000_live_captions': liveCaptions,
  '20261128200000_bulk_changes': bulkChanges,
  '20261128201000_maintenance_pending': maintenancePending,
  '20261128300000_saved_files_items': savedFilesItems,
  '20261128301000_uploads_placing': uploadsPlacing,
  '20261128310000_guide_words': guideWords,
  '20261128320000_storage_relay': storageRelay,
  '20261128330000_uploads_writing': uploadsWriting,
  '20261128340000_search_batches': searchBatches,
  '20261129000000_credited_single': creditedSingle,
  '20261129001000_search_joined': searchJoined,
  '20261129100000_guide_contents': guideContents,
  '20261129110000_uploads_placed': uploadsPlaced,
};
