import { defineArea } from '#kernel/endpoint.ts';
import { addIcons, deleteIcon, getIconImage, listIcons, updateIcon } from './icons.endpoints.ts';
import { createIconSet, deleteIconSet, getIconSet, listIconSets, updateIconSet } from './sets/sets.endpoints.ts';

export const iconsArea = defineArea('icons', 'Icons', [
  listIconSets,
  createIconSet,
  getIconSet,
  updateIconSet,
  deleteIconSet,
  addIcons,
  listIcons,
  updateIcon,
  deleteIcon,
  getIconImage,
]);
