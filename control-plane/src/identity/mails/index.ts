export {
  accountDeletedLetter,
  addressChangedLetter,
  addressChangeLetter,
  addressChangeNotice,
  passwordChangedLetter,
  resetPasswordLetter,
  tokenReusedLetter,
  verifyAddressLetter,
} from './letters.ts';
export { linkTo } from './links.ts';
