export {
  accountDeletedLetter,
  addressChangedLetter,
  addressChangeLetter,
  addressChangeNotice,
  passwordChangedLetter,
  resetPasswordLetter,
  secondFactorResetLetter,
  tokenReusedLetter,
  verifyAddressLetter,
} from './letters.ts';
export { linkTo } from './links.ts';
