import { defineArea } from '#kernel/endpoint.ts';
import { deleteImage, getImage, getImageInfo, updateImage } from './images.endpoints.ts';
import {
  captureItemArtwork,
  getItemArtwork,
  importItemArtwork,
  listItemArtwork,
  resetItemArtwork,
  searchItemArtwork,
  setItemArtwork,
  uploadItemArtwork,
} from './item-artwork.endpoints.ts';
import {
  listPersonPortraits,
  resetPersonPortrait,
  setPersonPortrait,
  uploadPersonPortrait,
} from './portraits/portraits.endpoints.ts';

export const artworkArea = defineArea('artwork', 'Artwork', [
  listItemArtwork,
  searchItemArtwork,
  uploadItemArtwork,
  importItemArtwork,
  captureItemArtwork,
  getItemArtwork,
  setItemArtwork,
  resetItemArtwork,
  getImage,
  getImageInfo,
  updateImage,
  deleteImage,
  listPersonPortraits,
  uploadPersonPortrait,
  setPersonPortrait,
  resetPersonPortrait,
]);
